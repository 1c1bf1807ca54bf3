import { type Caller, caller, CallsClosed } from '#shared/link/calls.ts';
import { portLink } from '#shared/link/link.ts';
import { browserModelsPort, type KeptModel } from '#shared/ports/browser-models.ts';
import type { WorkerLender } from '#shared/ports/host.ts';
import type { LocalModel } from '#shared/ports/models.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { Turns } from '#shared/turns.ts';
import { type FileCaches, KeptModels } from '../browser-models/kept-models.ts';
import type { BrowserDownloadWish, BrowserModels } from '../core/local-models/browser-models.ts';
import { lazy } from '../core/lazy.ts';
import type { LocalRunner } from '../core/providers/local-runner.ts';
import { started } from './started.ts';

/** In milliseconds. Time without requests after which a model is unloaded. */
const IDLE_MS = 5 * 60_000;
/** Time limit for a worker to cancel its work. */
const CANCEL_MS = 5_000;

interface Loaded {
  page: string;
  lender: WorkerLender;
  repo: string;
  keptAt: number | null;
  calls: Caller<typeof browserModelsPort.calls, typeof browserModelsPort.events>;
}

export interface LentModelsOptions {
  storage: FileCaches;
  /** Origin of the app. */
  origin: string;
  idleMs?: number;
}

const fetching = lazy(() => import('../browser-models/fetching.ts'));

/**
 * Models in this browser's storage, run in workers started by pages. One model is loaded at a time, by the first call that needs it, in a
 * worker that ends with it. Calls are queued.
 */
export class LentModels implements Omit<BrowserModels, 'cannot'> {
  readonly #kept: KeptModels;
  readonly #idleMs: number;
  readonly #lenders = new Map<string, WorkerLender>();
  #loaded: Loaded | undefined;
  readonly #turns = new Turns();
  #idle: ReturnType<typeof setTimeout> | undefined;

  constructor({ storage, origin, idleMs = IDLE_MS }: LentModelsOptions) {
    this.#kept = new KeptModels(storage, origin);
    this.#idleMs = idleMs;
  }

  /** Adds a page that starts workers, until it closes. */
  lend(page: string, lender: WorkerLender): void {
    this.#lenders.delete(page);
    this.#lenders.set(page, lender);
  }

  gone(page: string): void {
    this.#lenders.delete(page);
    if (this.#loaded?.page === page) this.#stop();
  }

  async list(): Promise<LocalModel[]> {
    return (await this.#kept.list()).filter(({ keptAt }) => keptAt !== null).map(described);
  }

  async unfinished(): Promise<{ repo: string; received: number; total: number }[]> {
    const left = (await this.#kept.list()).filter(({ keptAt }) => keptAt === null);
    return Promise.all(
      left.map(async ({ repo, files }) => {
        const here = await Promise.all(files.map(({ path, size }) => this.#kept.bytesOf(repo, path, size)));
        return { repo, received: sum(here), total: sum(files.map(({ size }) => size)) };
      }),
    );
  }

  async download(wish: BrowserDownloadWish): Promise<string> {
    const { repo } = await (await fetching()).fetchModel(wish, this.#kept);
    return repo;
  }

  async remove(id: string): Promise<number | null> {
    const model = await this.#kept.find(id);
    if (!model) return null;
    if (this.#loaded?.repo === id) this.#stop();
    await this.#kept.remove(id);
    return sum(model.files.map(({ size }) => size));
  }

  generate(...[id, request, { signal, ontext }]: Parameters<LocalRunner['generate']>): ReturnType<LocalRunner['generate']> {
    return this.#inTurn(id, signal, (calls) => {
      calls.on('run.text', (piece) => signal.aborted || ontext(piece));
      return calls.call('run.generate', request, signal);
    });
  }

  embed(...[id, texts, signal]: Parameters<LocalRunner['embed']>): ReturnType<LocalRunner['embed']> {
    return this.#inTurn(id, signal, (calls) => calls.call('run.embed', { texts }, signal));
  }

  #inTurn<T>(id: string, signal: AbortSignal, work: (calls: Loaded['calls']) => Promise<T>): Promise<T> {
    return this.#turns.take(signal, async () => {
      clearTimeout(this.#idle);
      try {
        return await this.#work(id, signal, work);
      } finally {
        clearTimeout(this.#idle);
        if (this.#loaded) this.#idle = setTimeout(() => this.#stop(), this.#idleMs);
      }
    });
  }

  async #work<T>(id: string, signal: AbortSignal, work: (calls: Loaded['calls']) => Promise<T>): Promise<T> {
    const model = await this.#kept.find(id);
    if (model?.keptAt == null)
      throw new RpcError('NOT_FOUND', `No model with id "${id}" in this browser.`, { details: { resource: 'model' } });
    if (this.#loaded && (this.#loaded.repo !== id || this.#loaded.keptAt !== model.keptAt)) this.#stop();
    try {
      const { calls } = this.#loaded ?? (await this.#load(model, signal));
      return await work(calls);
    } catch (error) {
      if (signal.aborted) await this.#leftOff();
      signal.throwIfAborted();
      if (!(error instanceof CallsClosed)) throw error;
      throw new RpcError('INTERNAL_ERROR', `The tab that ran ${id} was closed. Try again.`, {
        details: { reason: 'runner' },
      });
    }
  }

  /** Resolves when the worker has confirmed that it is idle, or was ended. */
  async #leftOff(): Promise<void> {
    const loaded = this.#loaded;
    if (!loaded) return;
    const late = Promise.withResolvers<'late'>();
    const timer = setTimeout(() => late.resolve('late'), CANCEL_MS);
    const idle = loaded.calls.call('run.idle', {}).catch(() => 'late' as const);
    if ((await Promise.race([idle, late.promise])) === 'late' && this.#loaded === loaded) this.#stop();
    clearTimeout(timer);
  }

  async #load(model: KeptModel, signal: AbortSignal): Promise<Loaded> {
    // The newest page first: it is most likely in the foreground.
    for (const [page, lender] of [...this.#lenders].reverse()) {
      const port = await started(lender, signal);
      if (!port) continue;
      const calls = caller(portLink<string>(port), browserModelsPort.calls, browserModelsPort.events);
      const loaded = { page, lender, calls, repo: model.repo, keptAt: model.keptAt };
      this.#loaded = loaded;
      // A load cannot be cancelled: its worker is ended.
      const stop = (): void => this.#stop();
      signal.addEventListener('abort', stop);
      try {
        await calls.call('run.load', { model }, signal);
        return loaded;
      } catch (error) {
        // A model that failed to load is dropped.
        if (this.#loaded === loaded) this.#stop();
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
    const loaded = this.#loaded;
    this.#loaded = undefined;
    clearTimeout(this.#idle);
    loaded?.calls.close();
    void loaded?.lender.stop().catch(() => {});
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

const described = ({ repo, files, contextWindow }: KeptModel): LocalModel => ({
  id: repo,
  backend: 'browser',
  sizeBytes: sum(files.map(({ size }) => size)),
  name: repo.split('/')[1] ?? null,
  contextWindow,
  source: 'huggingface',
  problem: null,
});
