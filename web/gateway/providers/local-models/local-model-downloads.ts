import { toClause } from '#shared/clause.ts';
import { type ModelDownload, modelDownloadsPort } from '#shared/ports/model-downloads-port.ts';
import { type LocalModel, type ModelBackend, modelBackend, type ModelSource } from '#shared/ports/local-model.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { Bridge } from '../../ports/bridge-interface.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Config } from '../../config/gateway-config.ts';
import type { Fetch } from '../../ports/fetch.ts';
import type { EventBus } from '../../system/event-bus.ts';
import type { LocalRunner } from '../local-runner.ts';
import type { BrowserModels } from './browser-models.ts';
import { HUGGINGFACE_URL } from '../../config/sections/hub-address.ts';

/** Maximum number of finished downloads of this browser in the list. */
const MAX_FINISHED = 50;
/** Milliseconds between two events of a download's progress. */
const PROGRESS_INTERVAL_MS = 250;

export interface LocalModelDownloadsDeps {
  bridge: Bridge;
  browserModels: BrowserModels;
  runners: Partial<Record<ModelBackend, LocalRunner>>;
  config: Pick<Config, 'settings' | 'set' | 'patch'>;
  clock: Clock;
  fetch: Fetch;
  hub: EventBus;
  /** Origins that current downloads send requests to. */
  activeOrigins: Set<string>;
  fault: (error: unknown) => void;
}

interface BrowserDownload {
  download: ModelDownload;
  stop: AbortController;
  notifiedAt: number;
  /** Resolves when the download has ended, even if it failed. */
  finished: Promise<void>;
}

interface DownloadRequest {
  repo: string;
  filename?: string | undefined;
  source: ModelSource;
  backend: ModelBackend;
}

/** Local models, on the bridge's disk and in this browser: installed ones and downloads. */
export class LocalModelDownloads {
  readonly #deps: LocalModelDownloadsDeps;
  readonly #browserDownloads = new Map<string, BrowserDownload>();
  #isWatching = false;

  constructor(deps: LocalModelDownloadsDeps) {
    this.#deps = deps;
  }

  /** Installed models, by id, including those that cannot run. */
  async listInstalled(signal: AbortSignal): Promise<LocalModel[]> {
    const lists = await Promise.all(Object.values(this.#deps.runners).map((runner) => runner.list(signal)));
    return lists.flat();
  }

  /** Starts a download, which continues without its caller. Throws `RpcError` if it cannot start. */
  async start(request: DownloadRequest, signal: AbortSignal): Promise<{ id: string }> {
    if (request.backend === 'browser') return this.#startInBrowser(request);
    const started = await this.#deps.bridge.call(modelDownloadsPort, 'downloads.start', request, { signal });
    this.#watch();
    return started;
  }

  /** Active and recent downloads; the newest first. */
  async list(signal: AbortSignal): Promise<ModelDownload[]> {
    const { bridge, browserModels } = this.#deps;
    const browserDownload = [...this.#browserDownloads.values()].map(({ download }) => download);
    const activeRepos = new Set(browserDownload.filter(({ state }) => state !== 'done').map(({ repo }) => repo));
    const unfinished = (await browserModels.listUnfinished())
      .filter(({ repo }) => !activeRepos.has(repo))
      .map(({ repo, received, total }): ModelDownload => ({
        ...createDownload(toUnfinishedId(repo), { repo, source: 'huggingface', backend: 'browser' }, 0),
        ...{ bytes: received, total, state: 'interrupted' },
      }));
    if (!bridge.provides(modelDownloadsPort)) return sortNewestFirst([...browserDownload, ...unfinished]);
    const { downloads } = await bridge.call(modelDownloadsPort, 'downloads.list', {}, { signal });
    if (downloads.some(({ state }) => state === 'running')) this.#watch();
    return sortNewestFirst([...browserDownload, ...unfinished, ...downloads]);
  }

  /** Resolves with false if the download was not active. `forget`: also removes it from the list, and its files. Throws `NOT_FOUND`. */
  async cancel({ id, forget }: { id: string; forget: boolean }, signal: AbortSignal): Promise<{ cancelled: boolean }> {
    const { bridge, browserModels } = this.#deps;
    const browserDownload = this.#browserDownloads.get(id);
    if (browserDownload) {
      const cancelled = browserDownload.download.state === 'running';
      if (cancelled) this.#update(browserDownload, { state: 'cancelled' });
      browserDownload.stop.abort(new Error('the download was cancelled'));
      if (forget) await this.#discard(browserDownload);
      return { cancelled };
    }
    const unfinished = (await browserModels.listUnfinished()).find(({ repo }) => toUnfinishedId(repo) === id);
    if (unfinished) {
      if (forget) await browserModels.remove(unfinished.repo);
      return { cancelled: false };
    }
    if (!bridge.provides(modelDownloadsPort)) throw new RpcError('NOT_FOUND', `No download with id "${id}".`);
    return bridge.call(modelDownloadsPort, 'downloads.cancel', { id, forget }, { signal });
  }

  /** Deletes a model's files, and clears the default model if it is this one. Throws `NOT_FOUND`. */
  async remove(id: string, signal: AbortSignal): Promise<{ sizeBytes: number; defaultCleared: boolean }> {
    const { bridge, browserModels } = this.#deps;
    const inBrowser = id.split('/').length === 2;
    for (const browserDownload of this.#browserDownloads.values())
      if (inBrowser && browserDownload.download.repo === id) await this.cancel({ id: browserDownload.download.id, forget: false }, signal);
    const sizeBytes = inBrowser
      ? await browserModels.remove(id)
      : (await bridge.call(modelDownloadsPort, 'downloads.delete', { model: id }, { signal })).sizeBytes;
    if (sizeBytes === null) throw localModelNotFound(id);
    return { sizeBytes, defaultCleared: await this.#clearDefault(id) };
  }

  /** Makes a model the default one. Throws `NOT_FOUND` if it does not exist, or the reason why it cannot run. */
  async select(id: string, signal: AbortSignal): Promise<{ selected: string }> {
    const model = (await this.listInstalled(signal)).find((installed) => installed.id === id);
    if (!model) throw localModelNotFound(id);
    if (model.problem !== null) throw new RpcError('INVALID_PARAMS', `${id} can’t run: ${toClause(model.problem)}.`);
    if (model.task !== undefined && model.task !== 'text-generation')
      throw new RpcError(
        'INVALID_PARAMS',
        `${id} can’t chat: it is a model for ${model.task === 'feature-extraction' ? 'embeddings' : 'speech recognition'}.`,
      );
    const selected = `${model.backend}/${id}`;
    await this.#deps.config.set('chat.model', selected);
    return { selected };
  }

  /** Aborts the downloads of this browser; their files stay. */
  stop(): void {
    for (const { stop } of this.#browserDownloads.values()) stop.abort(new Error('the gateway was closed'));
  }

  async #clearDefault(id: string): Promise<boolean> {
    const { config } = this.#deps;
    const { model } = config.settings.chat;
    const isDefault = model !== null && modelBackend.options.some((backend) => model === `${backend}/${id}`);
    if (isDefault) await config.patch({ chat: { model: null } });
    return isDefault;
  }

  #startInBrowser(request: DownloadRequest): { id: string } {
    if (request.source !== 'huggingface') throw new RpcError('INVALID_PARAMS', '`source` must be "huggingface" for models in the browser.');
    const running = [...this.#browserDownloads.values()].find(
      ({ download }) => download.state === 'running' && download.repo === request.repo,
    );
    if (running && running.download.filename === (request.filename ?? null)) return { id: running.download.id };
    if (running) throw new RpcError('INVALID_PARAMS', `Another file of ${request.repo} is being downloaded. Cancel that download first.`);
    // Removes previous downloads of the same file from the list.
    for (const [id, { download }] of this.#browserDownloads)
      if (download.repo === request.repo && download.filename === (request.filename ?? null)) this.#browserDownloads.delete(id);
    const download = createDownload(crypto.randomUUID(), request, this.#deps.clock.now());
    const browserDownload: BrowserDownload = { download, stop: new AbortController(), notifiedAt: 0, finished: Promise.resolve() };
    this.#browserDownloads.set(browserDownload.download.id, browserDownload);
    browserDownload.finished = this.#fetch(browserDownload);
    return { id: browserDownload.download.id };
  }

  async #fetch(browserDownload: BrowserDownload): Promise<void> {
    const { browserModels, config, clock, fetch, activeOrigins } = this.#deps;
    const { repo, filename } = browserDownload.download;
    const origins = new Set<string>();
    this.#update(browserDownload, {});
    try {
      const modelId = await browserModels.download({
        ...{ repo, filename: filename ?? undefined, fetch, signal: browserDownload.stop.signal, now: () => clock.now() },
        hub: config.settings.models.hub ?? HUGGINGFACE_URL,
        onRequest: (origin) => {
          origins.add(origin);
          activeOrigins.add(origin);
        },
        onprogress: ({ file, received, total }) => this.#update(browserDownload, { file, bytes: received, total }),
      });
      this.#update(browserDownload, { state: 'done', modelId });
    } catch (error) {
      if (browserDownload.download.state === 'running')
        this.#update(browserDownload, { state: 'failed', error: error instanceof Error ? error.message : String(error) });
    } finally {
      // Another download from the same origin adds it again with its next request.
      for (const origin of origins) activeOrigins.delete(origin);
      const finishedDownloads = [...this.#browserDownloads.values()].filter(({ download }) => download.state !== 'running');
      for (const { download } of finishedDownloads.slice(0, Math.max(0, finishedDownloads.length - MAX_FINISHED)))
        this.#browserDownloads.delete(download.id);
    }
  }

  async #discard({ download: { id, repo }, finished }: BrowserDownload): Promise<void> {
    const { browserModels } = this.#deps;
    await finished;
    this.#browserDownloads.delete(id);
    const isInUse = [...this.#browserDownloads.values()].some(({ download }) => download.repo === repo && download.state !== 'done');
    if (!isInUse && (await browserModels.listUnfinished()).some((unfinished) => unfinished.repo === repo)) await browserModels.remove(repo);
  }

  #update(browserDownload: BrowserDownload, change: Partial<ModelDownload>): void {
    // A cancelled download stays cancelled, whatever else is reported.
    if (browserDownload.download.state !== 'running') return;
    const before = browserDownload.download;
    browserDownload.download = { ...before, ...change };
    const now = this.#deps.clock.monotonic();
    if (
      browserDownload.download.state === before.state &&
      browserDownload.download.file === before.file &&
      now - browserDownload.notifiedAt < PROGRESS_INTERVAL_MS
    )
      return;
    browserDownload.notifiedAt = now;
    this.#emit(browserDownload.download);
  }

  #emit(download: ModelDownload): void {
    this.#deps.hub.emit({ event: 'models.progress', payload: download }, null);
  }

  /** Forwards the bridge's events while it has active downloads. */
  #watch(): void {
    const { bridge, fault } = this.#deps;
    if (this.#isWatching) return;
    this.#isWatching = true;
    bridge
      .call(modelDownloadsPort, 'downloads.watch', {}, { on: { 'downloads.progress': (download) => this.#emit(download) } })
      .catch((error: unknown) => bridge.provides(modelDownloadsPort) && fault(error))
      .finally(() => (this.#isWatching = false));
  }
}

const createDownload = (id: string, { repo, filename, source, backend }: DownloadRequest, startedAt: number): ModelDownload => ({
  ...{ id, repo, filename: filename ?? null, source, backend, startedAt },
  ...{ file: null, bytes: 0, total: null, state: 'running', modelId: null },
});

const toUnfinishedId = (repo: string): string => `left:${repo}`;

const sortNewestFirst = (downloads: ModelDownload[]): ModelDownload[] => downloads.sort((a, b) => b.startedAt - a.startedAt);

const localModelNotFound = (id: string): RpcError =>
  new RpcError('NOT_FOUND', `No local model with id "${id}". Call models.local to list local models.`, { details: { resource: 'model' } });
