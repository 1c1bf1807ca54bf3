import type { ModelDownload } from '#shared/ports/model-downloads-port.ts';
import type { LocalModel, ModelBackend, ModelSource } from '#shared/ports/local-model.ts';
import { isConnectionLost, type Problem, toProblem } from '#lib/problems.ts';
import { gateway } from '#lib/gateway/gateway-connection.svelte.ts';
import { m } from '#lib/i18n/chat-messages.ts';
import { models } from './models.svelte.ts';

export interface ModelDownloadRequest {
  /** `<owner>/<name>`. */
  repo: string;
  /** Empty for what suits the machine best. */
  filename: string;
  source: ModelSource;
  backend: ModelBackend;
}

/** Models that are kept on this machine, and those on their way to it. */
class LocalModels {
  /** Null before the first answer. */
  list = $state.raw<LocalModel[] | null>(null);
  /** The newest first. */
  downloads = $state.raw<ModelDownload[]>([]);
  problem = $state.raw<Problem | null>(null);

  /** Downloads that run, can be resumed, or failed. */
  readonly openDownloads = $derived(this.downloads.filter(({ state }) => state !== 'done'));

  /** Reads them, and follows downloads until the returned function is called. */
  watch(): () => void {
    void this.load();
    return gateway.on('models.progress', (download) => {
      const isListed = this.downloads.some(({ id }) => id === download.id);
      this.downloads = isListed ? this.downloads.map((each) => (each.id === download.id ? download : each)) : [download, ...this.downloads];
      // A new one takes the place of what had become of the same.
      if (!isListed || download.state !== 'running') void this.load();
      if (download.state === 'done') void models.load();
    });
  }

  async load(): Promise<void> {
    try {
      // Each is taken as it comes: what is told of a download in between is newer than the list.
      await Promise.all([
        gateway.call('models.local', {}).then(({ models: list }) => (this.list = list)),
        gateway.call('models.downloads', {}).then(({ downloads }) => (this.downloads = downloads)),
      ]);
      this.problem = null;
    } catch (error) {
      if (!isConnectionLost(error)) this.problem = toProblem(error, m.model_words_doing_read_local());
    }
  }

  /** Begins a download, or goes on with what is here of it; its id. */
  async download({ repo, filename, source, backend }: ModelDownloadRequest): Promise<string> {
    const { id } = await gateway.call('models.download', {
      ...{ repo: repo.trim(), source, backend },
      ...(filename.trim() === '' ? {} : { filename: filename.trim() }),
    });
    await this.load();
    return id;
  }

  async cancel(id: string): Promise<void> {
    await gateway.call('models.cancelDownload', { id });
    await this.load();
  }

  /** Ends it where it is under way, and deletes what is here of it. */
  async discard(id: string): Promise<void> {
    await gateway.call('models.cancelDownload', { id, forget: true });
    await this.load();
  }

  async remove(modelId: string): Promise<void> {
    await gateway.call('models.deleteLocal', { modelId });
    await Promise.all([this.load(), models.load()]);
  }

  async use(modelId: string): Promise<void> {
    models.defaultModel = (await gateway.call('models.select', { modelId })).selected;
  }
}

export const localModels = new LocalModels();
