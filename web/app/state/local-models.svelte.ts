import type { ModelDownload } from '#shared/ports/model-downloads-port.ts';
import type { LocalModel, ModelBackend, ModelSource } from '#shared/ports/local-model.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '../connection/gateway-connection.svelte.ts';
import { m } from '../i18n/messages.ts';
import { models } from './models.svelte.ts';

interface ModelDownloadRequest {
  /** `<owner>/<name>`. */
  repo: string;
  /** Empty: the file that suits the machine best. */
  filename: string;
  source: ModelSource;
  backend: ModelBackend;
}

/** Models stored on this machine, and their downloads. */
class LocalModels {
  /** Null before the first answer. */
  list = $state.raw<LocalModel[] | null>(null);
  /** The newest first. */
  downloads = $state.raw<ModelDownload[]>([]);
  problem = $state.raw<Problem | null>(null);

  /** Downloads that run, can be resumed, or failed. */
  readonly openDownloads = $derived(this.downloads.filter(({ state }) => state !== 'done'));

  /** Loads both lists and follows downloads. Returns a function that stops it. */
  watch(): () => void {
    void this.load();
    return gateway.on('models.progress', (download) => {
      const isListed = this.downloads.some(({ id }) => id === download.id);
      this.downloads = isListed ? this.downloads.map((each) => (each.id === download.id ? download : each)) : [download, ...this.downloads];
      // A new download replaces an earlier one of the same file.
      if (!isListed || download.state !== 'running') void this.load();
      if (download.state === 'done') void models.load();
    });
  }

  async load(): Promise<void> {
    try {
      // Each list is applied when it arrives, so that later progress events are not overwritten.
      await Promise.all([
        gateway.call('models.local', {}).then(({ models: list }) => (this.list = list)),
        gateway.call('models.downloads', {}).then(({ downloads }) => (this.downloads = downloads)),
      ]);
      this.problem = null;
    } catch (error) {
      if (!isConnectionLost(error)) this.problem = toProblem(error, m.model_words_doing_read_local());
    }
  }

  /** Begins or resumes a download and returns its id. */
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

  /** Cancels a download if it is running, and deletes its partial file. */
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
