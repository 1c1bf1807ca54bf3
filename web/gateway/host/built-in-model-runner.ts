import { createPortClient, CallsClosed } from '#shared/link/port-calls.ts';
import { portLink } from '#shared/link/link.ts';
import { builtInModelError, builtInModelPort } from '#shared/ports/built-in-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { raceAbort } from '#shared/async/mutex.ts';
import type { LocalResult, LocalRunner } from '../providers/local-runner.ts';
import type { PageWorkers } from './page-workers.ts';
import { startPageWorker } from './start-page-worker.ts';

/** Time that a newly opened page takes to report that it has the model. */
const PAGE_WAIT_MS = 5_000;

const MODEL_ID = 'language-model';

type Generate = LocalRunner['generate'];

/** Runs the browser's built-in model in one of the pages that have it. */
export class BuiltInModelRunner {
  /** Null until the model has answered once. */
  contextWindow: number | null = null;
  readonly #pages: PageWorkers;
  /** Abort functions of running requests, with their page. */
  readonly #running = new Map<() => void, string>();
  /** Requests that wait for a page with the model. */
  readonly #pageWaiters = new Set<() => void>();

  constructor(pages: PageWorkers) {
    this.#pages = pages;
    pages.onAdded = () => {
      for (const resume of this.#pageWaiters) resume();
    };
    pages.onRemoved = (page) => {
      for (const [end, runningPage] of this.#running) if (runningPage === page) end();
    };
  }

  async generate(...[id, request, options]: Parameters<Generate>): ReturnType<Generate> {
    if (id !== MODEL_ID) throw new RpcError('NOT_FOUND', `This browser has no model "${id}".`);
    if (this.#pages.size === 0) await this.#waitForPage(options.signal);
    const { contextWindow, ...answer } = await this.#runInPage(request, options);
    this.contextWindow = contextWindow;
    return answer;
  }

  embed(): Promise<never> {
    return Promise.reject(
      new RpcError('INVALID_PARAMS', 'The browser’s built-in model does not support embeddings.', { details: { field: 'model' } }),
    );
  }

  async #runInPage(
    request: Parameters<Generate>[1],
    { signal, ontext }: Parameters<Generate>[2],
  ): Promise<LocalResult & { contextWindow: number | null }> {
    for (const [page, factory] of this.#pages.newestFirst()) {
      const port = await startPageWorker(factory, signal);
      if (!port) continue;
      const calls = createPortClient(portLink<string>(port), builtInModelPort.calls, builtInModelPort.events);
      const end = (): void => calls.close();
      calls.on('run.text', (piece) => signal.aborted || ontext(piece));
      this.#running.set(end, page);
      try {
        return await calls.call('run.generate', request, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof CallsClosed)) throw toRpcError(error);
        throw new RpcError('INTERNAL_ERROR', 'The tab that was replying was closed. Try again.', { details: { reason: 'runner' } });
      } finally {
        this.#running.delete(end);
        end();
      }
    }
    signal.throwIfAborted();
    throw new RpcError('INTERNAL_ERROR', 'Open Perch in a browser with a built-in model to use it.', { details: { reason: 'needs-page' } });
  }

  /** Resolves when a page has appeared, or after a while. */
  async #waitForPage(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, PAGE_WAIT_MS);
    this.#pageWaiters.add(resolve);
    try {
      await raceAbort(promise, signal);
    } finally {
      clearTimeout(timer);
      this.#pageWaiters.delete(resolve);
    }
  }
}

/** Converts a page's error about its browser's model to a message for people. */
function toRpcError(error: unknown): unknown {
  const { data } = builtInModelError.safeParse(error instanceof RpcError ? error.extra.details : undefined);
  if (!data) return error;
  const { reason, tokens, takes, why = reason } = data;
  const createInvalidParams = (message: string): RpcError => new RpcError('INVALID_PARAMS', message, { details: { field: 'messages' } });
  switch (reason) {
    case 'unasked':
      return createInvalidParams('The browser’s built-in model needs a user message.');
    case 'too-long':
      return createInvalidParams(
        tokens === undefined
          ? 'The conversation is too long for the browser’s built-in model. Start a new chat.'
          : `The conversation has ${tokens} tokens, but the browser’s built-in model allows ${takes}. Start a new chat.`,
      );
    case 'unfit':
      return createInvalidParams(`The browser’s built-in model does not support this: ${why}`);
    default:
      return new RpcError(
        'INTERNAL_ERROR',
        `The browser’s built-in model failed: ${why}`,
        { details: { reason: 'runner' } },
        { cause: error },
      );
  }
}
