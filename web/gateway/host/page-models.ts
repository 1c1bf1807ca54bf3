import { type PortClient, createPortClient, CallsClosed } from '#shared/link/port-calls.ts';
import { portLink } from '#shared/link/link.ts';
import { browserModelsPort, type StoredBrowserModel } from '#shared/ports/browser-models-port.ts';
import type { PageWorkerProvider } from '#shared/ports/host-api.ts';
import type { LocalModel } from '#shared/ports/local-model.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { Mutex } from '#shared/async/mutex.ts';
import { type CacheOpener, ModelStore } from '../browser-models/model-store.ts';
import type { BrowserDownloadRequest, BrowserModels } from '../providers/local-models/browser-models.ts';
import { lazy } from '#shared/async/lazy.ts';
import type { LocalRunner } from '../providers/local-runner.ts';
import type { PageWorkers } from './page-workers.ts';
import { startPageWorker } from './start-page-worker.ts';

/** In milliseconds. Time without requests after which a model is unloaded. */
const UNLOAD_AFTER_MS = 5 * 60_000;
/** Time limit for a worker to cancel its work. */
const CANCEL_TIMEOUT_MS = 5_000;

interface RunningModel {
  page: string;
  factory: PageWorkerProvider;
  repo: string;
  keptAt: number | null;
  calls: PortClient<typeof browserModelsPort.calls, typeof browserModelsPort.events>;
}

export interface PageModelsOptions {
  pages: PageWorkers;
  storage: CacheOpener;
  /** Origin of the app. */
  origin: string;
  idleMs?: number;
}

const loadFetchModel = lazy(() => import('../browser-models/fetch-model.ts'));

/**
 * Models in this browser's storage, run in workers started by pages. One model is loaded at a time, by the first call that needs it, in a
 * worker that ends with it. Calls are queued.
 */
export class PageModels implements Omit<BrowserModels, 'unsupported'> {
  readonly #store: ModelStore;
  readonly #idleMs: number;
  readonly #pages: PageWorkers;
  #running: RunningModel | undefined;
  readonly #mutex = new Mutex();
  #idleTimer: ReturnType<typeof setTimeout> | undefined;

  constructor({ pages, storage, origin, idleMs = UNLOAD_AFTER_MS }: PageModelsOptions) {
    this.#pages = pages;
    pages.onRemoved = (page) => {
      if (this.#running?.page === page) this.#stop();
    };
    this.#store = new ModelStore(storage, origin);
    this.#idleMs = idleMs;
  }

  async list(): Promise<LocalModel[]> {
    return (await this.#store.list()).filter(({ keptAt }) => keptAt !== null).map(toLocalModel);
  }

  async listUnfinished(): Promise<{ repo: string; received: number; total: number }[]> {
    const unfinished = (await this.#store.list()).filter(({ keptAt }) => keptAt === null);
    return Promise.all(
      unfinished.map(async ({ repo, files }) => {
        const storedBytes = await Promise.all(files.map(({ path, size }) => this.#store.countStoredBytes(repo, path, size)));
        return { repo, received: sum(storedBytes), total: sum(files.map(({ size }) => size)) };
      }),
    );
  }

  async download(request: BrowserDownloadRequest): Promise<string> {
    const { repo } = await (await loadFetchModel()).fetchModel(request, this.#store);
    return repo;
  }

  async remove(id: string): Promise<number | null> {
    const model = await this.#store.find(id);
    if (!model) return null;
    if (this.#running?.repo === id) this.#stop();
    await this.#store.remove(id);
    return sum(model.files.map(({ size }) => size));
  }

  generate(...[id, request, { signal, ontext }]: Parameters<LocalRunner['generate']>): ReturnType<LocalRunner['generate']> {
    return this.#enqueue(id, signal, (calls) => {
      calls.on('run.text', (piece) => signal.aborted || ontext(piece));
      return calls.call('run.generate', request, signal);
    });
  }

  embed(...[id, texts, signal]: Parameters<LocalRunner['embed']>): ReturnType<LocalRunner['embed']> {
    return this.#enqueue(id, signal, (calls) => calls.call('run.embed', { texts }, signal));
  }

  transcribe(...[id, request, signal]: Parameters<BrowserModels['transcribe']>): ReturnType<BrowserModels['transcribe']> {
    return this.#enqueue(id, signal, (calls) => calls.call('run.transcribe', request, signal));
  }

  #enqueue<T>(id: string, signal: AbortSignal, work: (calls: RunningModel['calls']) => Promise<T>): Promise<T> {
    return this.#mutex.take(signal, async () => {
      clearTimeout(this.#idleTimer);
      try {
        return await this.#runWithModel(id, signal, work);
      } finally {
        clearTimeout(this.#idleTimer);
        if (this.#running) this.#idleTimer = setTimeout(() => this.#stop(), this.#idleMs);
      }
    });
  }

  async #runWithModel<T>(id: string, signal: AbortSignal, work: (calls: RunningModel['calls']) => Promise<T>): Promise<T> {
    const model = await this.#store.find(id);
    if (model?.keptAt == null)
      throw new RpcError('NOT_FOUND', `No model with id "${id}" in this browser.`, { details: { resource: 'model' } });
    if (this.#running && (this.#running.repo !== id || this.#running.keptAt !== model.keptAt)) this.#stop();
    try {
      const { calls } = this.#running ?? (await this.#load(model, signal));
      return await work(calls);
    } catch (error) {
      if (signal.aborted) await this.#waitForCancel();
      signal.throwIfAborted();
      if (!(error instanceof CallsClosed)) throw error;
      throw new RpcError('INTERNAL_ERROR', `The tab that ran ${id} was closed. Try again.`, {
        details: { reason: 'runner' },
      });
    }
  }

  /** Resolves when the worker has confirmed that it is idle, or was ended. */
  async #waitForCancel(): Promise<void> {
    const running = this.#running;
    if (!running) return;
    const timeout = Promise.withResolvers<'late'>();
    const timer = setTimeout(() => timeout.resolve('late'), CANCEL_TIMEOUT_MS);
    const idle = running.calls.call('run.idle', {}).catch(() => 'late' as const);
    if ((await Promise.race([idle, timeout.promise])) === 'late' && this.#running === running) this.#stop();
    clearTimeout(timer);
  }

  async #load(model: StoredBrowserModel, signal: AbortSignal): Promise<RunningModel> {
    for (const [page, factory] of this.#pages.newestFirst()) {
      const port = await startPageWorker(factory, signal);
      if (!port) continue;
      const calls = createPortClient(portLink<string>(port), browserModelsPort.calls, browserModelsPort.events);
      const running = { page, factory, calls, repo: model.repo, keptAt: model.keptAt };
      this.#running = running;
      // A load cannot be cancelled: its worker is ended.
      const stop = (): void => this.#stop();
      signal.addEventListener('abort', stop);
      try {
        await calls.call('run.load', { model }, signal);
        return running;
      } catch (error) {
        // A model that failed to load is dropped.
        if (this.#running === running) this.#stop();
        throw error;
      } finally {
        signal.removeEventListener('abort', stop);
      }
    }
    signal.throwIfAborted();
    throw new RpcError('INTERNAL_ERROR', 'Models in this browser need an open tab. Open Perch in this browser.', {
      details: { reason: 'needs-page' },
    });
  }

  #stop(): void {
    const running = this.#running;
    this.#running = undefined;
    clearTimeout(this.#idleTimer);
    running?.calls.close();
    void running?.factory.stop().catch(() => {});
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

const toLocalModel = ({ repo, files, task, contextWindow }: StoredBrowserModel): LocalModel => ({
  id: repo,
  backend: 'browser',
  sizeBytes: sum(files.map(({ size }) => size)),
  name: repo.split('/')[1] ?? null,
  contextWindow,
  task,
  source: 'huggingface',
  problem: null,
});
