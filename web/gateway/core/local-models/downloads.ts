import { toClause } from '#shared/clause.ts';
import { type ModelDownload, modelDownloadsPort } from '#shared/ports/model-downloads.ts';
import { type LocalModel, type ModelBackend, modelBackend, type ModelSource } from '#shared/ports/models.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import type { Bridge } from '../bridge.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Fetch } from '../fetch.ts';
import type { Hub } from '../hub.ts';
import type { LocalRunner } from '../providers/local-runner.ts';
import type { BrowserModels } from './browser-models.ts';
import { HUGGINGFACE } from './hub-address.ts';

/** Maximum number of finished downloads of this browser in the list. */
const MOST_ENDED = 50;
/** Milliseconds between two events of a download's progress. */
const TELL_MS = 250;

export interface DownloadsDeps {
  bridge: Bridge;
  browserModels: BrowserModels;
  runners: Partial<Record<ModelBackend, LocalRunner>>;
  config: Pick<Config, 'settings' | 'set' | 'patch'>;
  clock: Clock;
  fetch: Fetch;
  hub: Hub;
  /** Origins that current downloads send requests to. */
  asked: Set<string>;
  fault: (error: unknown) => void;
}

interface Own {
  download: ModelDownload;
  stop: AbortController;
  toldAt: number;
  /** Resolves when the download has ended, even if it failed. */
  over: Promise<void>;
}

export interface Wish {
  repo: string;
  filename?: string | undefined;
  source: ModelSource;
  backend: ModelBackend;
}

/** Local models, on the bridge's disk and in this browser: installed ones and downloads. */
export class LocalModelDownloads {
  readonly #deps: DownloadsDeps;
  readonly #own = new Map<string, Own>();
  #watching = false;

  constructor(deps: DownloadsDeps) {
    this.#deps = deps;
  }

  /** Installed models, by id, including those that cannot run. */
  async local(signal: AbortSignal): Promise<LocalModel[]> {
    const lists = await Promise.all(Object.values(this.#deps.runners).map((runner) => runner.list(signal)));
    return lists.flat();
  }

  /** Starts a download, which continues without its caller. Throws `RpcError` if it cannot start. */
  async start(wish: Wish, signal: AbortSignal): Promise<{ id: string }> {
    if (wish.backend === 'browser') return this.#startOwn(wish);
    const started = await this.#deps.bridge.call(modelDownloadsPort, 'downloads.start', wish, { signal });
    this.#watch();
    return started;
  }

  /** Active and recent downloads; the newest first. */
  async list(signal: AbortSignal): Promise<ModelDownload[]> {
    const { bridge, browserModels } = this.#deps;
    const own = [...this.#own.values()].map(({ download }) => download);
    const known = new Set(own.filter(({ state }) => state !== 'done').map(({ repo }) => repo));
    const left = (await browserModels.unfinished())
      .filter(({ repo }) => !known.has(repo))
      .map(({ repo, received, total }): ModelDownload => ({
        ...blank(leftId(repo), { repo, source: 'huggingface', backend: 'browser' }, 0),
        ...{ bytes: received, total, state: 'interrupted' },
      }));
    if (!bridge.lends(modelDownloadsPort)) return newestFirst([...own, ...left]);
    const { downloads } = await bridge.call(modelDownloadsPort, 'downloads.list', {}, { signal });
    if (downloads.some(({ state }) => state === 'running')) this.#watch();
    return newestFirst([...own, ...left, ...downloads]);
  }

  /** Resolves with false if the download was not active. `forget`: also removes it from the list, and its files. Throws `NOT_FOUND`. */
  async cancel({ id, forget }: { id: string; forget: boolean }, signal: AbortSignal): Promise<{ cancelled: boolean }> {
    const { bridge, browserModels } = this.#deps;
    const own = this.#own.get(id);
    if (own) {
      const cancelled = own.download.state === 'running';
      if (cancelled) this.#tell(own, { state: 'cancelled' });
      own.stop.abort(new Error('the download was cancelled'));
      if (forget) await this.#forget(own);
      return { cancelled };
    }
    const left = (await browserModels.unfinished()).find(({ repo }) => leftId(repo) === id);
    if (left) {
      if (forget) await browserModels.remove(left.repo);
      return { cancelled: false };
    }
    if (!bridge.lends(modelDownloadsPort)) throw new RpcError('NOT_FOUND', `No download with id "${id}".`);
    return bridge.call(modelDownloadsPort, 'downloads.cancel', { id, forget }, { signal });
  }

  /** Deletes a model's files, and clears the default model if it is this one. Throws `NOT_FOUND`. */
  async remove(id: string, signal: AbortSignal): Promise<{ sizeBytes: number; defaultCleared: boolean }> {
    const { bridge, browserModels } = this.#deps;
    const inBrowser = id.split('/').length === 2;
    for (const own of this.#own.values())
      if (inBrowser && own.download.repo === id) await this.cancel({ id: own.download.id, forget: false }, signal);
    const sizeBytes = inBrowser
      ? await browserModels.remove(id)
      : (await bridge.call(modelDownloadsPort, 'downloads.delete', { model: id }, { signal })).sizeBytes;
    if (sizeBytes === null) throw noModel(id);
    return { sizeBytes, defaultCleared: await this.#clearDefault(id) };
  }

  /** Makes a model the default one. Throws `NOT_FOUND` if it does not exist, or the reason why it cannot run. */
  async select(id: string, signal: AbortSignal): Promise<{ selected: string }> {
    const model = (await this.local(signal)).find((each) => each.id === id);
    if (!model) throw noModel(id);
    if (model.problem !== null) throw new RpcError('INVALID_PARAMS', `${id} can’t run: ${toClause(model.problem)}.`);
    const selected = `${model.backend}/${id}`;
    await this.#deps.config.set('chat.model', selected);
    return { selected };
  }

  /** Aborts the downloads of this browser; their files stay. */
  stop(): void {
    for (const { stop } of this.#own.values()) stop.abort(new Error('the gateway was closed'));
  }

  async #clearDefault(id: string): Promise<boolean> {
    const { config } = this.#deps;
    const { model } = config.settings.chat;
    const isDefault = model !== null && modelBackend.options.some((backend) => model === `${backend}/${id}`);
    if (isDefault) await config.patch({ chat: { model: null } });
    return isDefault;
  }

  #startOwn(wish: Wish): { id: string } {
    if (wish.source !== 'huggingface') throw new RpcError('INVALID_PARAMS', '`source` must be "huggingface" for models in the browser.');
    const running = [...this.#own.values()].find(({ download }) => download.state === 'running' && download.repo === wish.repo);
    if (running && running.download.filename === (wish.filename ?? null)) return { id: running.download.id };
    if (running) throw new RpcError('INVALID_PARAMS', `Another file of ${wish.repo} is being downloaded. Cancel that download first.`);
    // Removes previous downloads of the same file from the list.
    for (const [id, { download }] of this.#own)
      if (download.repo === wish.repo && download.filename === (wish.filename ?? null)) this.#own.delete(id);
    const download = blank(crypto.randomUUID(), wish, this.#deps.clock.now());
    const own: Own = { download, stop: new AbortController(), toldAt: 0, over: Promise.resolve() };
    this.#own.set(own.download.id, own);
    own.over = this.#fetch(own);
    return { id: own.download.id };
  }

  async #fetch(own: Own): Promise<void> {
    const { browserModels, config, clock, fetch, asked } = this.#deps;
    const { repo, filename } = own.download;
    const origins = new Set<string>();
    this.#tell(own, {});
    try {
      const modelId = await browserModels.download({
        ...{ repo, filename: filename ?? undefined, fetch, signal: own.stop.signal, now: () => clock.now() },
        hub: config.settings.models.hub ?? HUGGINGFACE,
        asking: (origin) => {
          origins.add(origin);
          asked.add(origin);
        },
        onprogress: ({ file, received, total }) => this.#tell(own, { file, bytes: received, total }),
      });
      this.#tell(own, { state: 'done', modelId });
    } catch (error) {
      if (own.download.state === 'running')
        this.#tell(own, { state: 'failed', error: error instanceof Error ? error.message : String(error) });
    } finally {
      // Another download from the same origin adds it again with its next request.
      for (const origin of origins) asked.delete(origin);
      const ended = [...this.#own.values()].filter(({ download }) => download.state !== 'running');
      for (const { download } of ended.slice(0, Math.max(0, ended.length - MOST_ENDED))) this.#own.delete(download.id);
    }
  }

  async #forget({ download: { id, repo }, over }: Own): Promise<void> {
    const { browserModels } = this.#deps;
    await over;
    this.#own.delete(id);
    const wanted = [...this.#own.values()].some(({ download }) => download.repo === repo && download.state !== 'done');
    if (!wanted && (await browserModels.unfinished()).some((left) => left.repo === repo)) await browserModels.remove(repo);
  }

  #tell(own: Own, change: Partial<ModelDownload>): void {
    // A cancelled download stays cancelled, whatever else is reported.
    if (own.download.state !== 'running') return;
    const before = own.download;
    own.download = { ...before, ...change };
    const now = this.#deps.clock.monotonic();
    if (own.download.state === before.state && own.download.file === before.file && now - own.toldAt < TELL_MS) return;
    own.toldAt = now;
    this.#emit(own.download);
  }

  #emit(download: ModelDownload): void {
    this.#deps.hub.emit({ event: 'models.progress', payload: download }, null);
  }

  /** Forwards the bridge's events while it has active downloads. */
  #watch(): void {
    const { bridge, fault } = this.#deps;
    if (this.#watching) return;
    this.#watching = true;
    bridge
      .call(modelDownloadsPort, 'downloads.watch', {}, { on: { 'downloads.progress': (download) => this.#emit(download) } })
      .catch((error: unknown) => bridge.lends(modelDownloadsPort) && fault(error))
      .finally(() => (this.#watching = false));
  }
}

const blank = (id: string, { repo, filename, source, backend }: Wish, startedAt: number): ModelDownload => ({
  ...{ id, repo, filename: filename ?? null, source, backend, startedAt },
  ...{ file: null, bytes: 0, total: null, state: 'running', modelId: null },
});

const leftId = (repo: string): string => `left:${repo}`;

const newestFirst = (downloads: ModelDownload[]): ModelDownload[] => downloads.sort((a, b) => b.startedAt - a.startedAt);

const noModel = (id: string): RpcError =>
  new RpcError('NOT_FOUND', `No local model with id "${id}". Call models.local to list local models.`, { details: { resource: 'model' } });
