import { caller, CallsClosed } from '#shared/link/calls.ts';
import { portLink } from '#shared/link/link.ts';
import { builtInFault, builtInPort } from '#shared/ports/built-in.ts';
import type { WorkerLender } from '#shared/ports/host.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { unlessAborted } from '#shared/turns.ts';
import type { LocalAnswer, LocalRunner } from '../core/providers/local-runner.ts';
import { started } from './started.ts';

/** Time that a newly opened page takes to report that it has the model. */
const COMES_WITHIN_MS = 5_000;

const MODEL = 'language-model';

type Generate = LocalRunner['generate'];

/** Runs the browser's built-in model in one of the pages that have it. */
export class AskedPages {
  /** Null until the model has answered once. */
  contextWindow: number | null = null;
  readonly #lenders: ReadonlyMap<string, WorkerLender>;
  /** Abort functions of running requests, with their page. */
  readonly #running = new Map<() => void, string>();
  /** Requests that wait for a page with the model. */
  readonly #waiting = new Set<() => void>();

  constructor(lenders: ReadonlyMap<string, WorkerLender>) {
    this.#lenders = lenders;
  }

  /** Called when a page with the model has appeared. */
  came(): void {
    for (const go of this.#waiting) go();
  }

  gone(page: string): void {
    for (const [end, by] of this.#running) if (by === page) end();
  }

  async generate(...[id, request, options]: Parameters<Generate>): ReturnType<Generate> {
    if (id !== MODEL) throw new RpcError('NOT_FOUND', `This browser has no model "${id}".`);
    if (this.#lenders.size === 0) await this.#pageComes(options.signal);
    const { contextWindow, ...answer } = await this.#ask(request, options);
    this.contextWindow = contextWindow;
    return answer;
  }

  embed(): Promise<never> {
    return Promise.reject(
      new RpcError('INVALID_PARAMS', 'The browser’s built-in model does not support embeddings.', { details: { field: 'model' } }),
    );
  }

  async #ask(
    request: Parameters<Generate>[1],
    { signal, ontext }: Parameters<Generate>[2],
  ): Promise<LocalAnswer & { contextWindow: number | null }> {
    // The newest page first: it is most likely in the foreground.
    for (const [page, lender] of [...this.#lenders].reverse()) {
      const port = await started(lender, signal);
      if (!port) continue;
      const calls = caller(portLink<string>(port), builtInPort.calls, builtInPort.events);
      const end = (): void => calls.close();
      calls.on('run.text', (piece) => signal.aborted || ontext(piece));
      this.#running.set(end, page);
      try {
        return await calls.call('run.generate', request, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof CallsClosed)) throw told(error);
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
  async #pageComes(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, COMES_WITHIN_MS);
    this.#waiting.add(resolve);
    try {
      await unlessAborted(promise, signal);
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(resolve);
    }
  }
}

/** Converts a page's error about its browser's model to a message for people. */
function told(error: unknown): unknown {
  const { data } = builtInFault.safeParse(error instanceof RpcError ? error.extra.details : undefined);
  if (!data) return error;
  const { reason, tokens, takes, why = reason } = data;
  const refused = (message: string): RpcError => new RpcError('INVALID_PARAMS', message, { details: { field: 'messages' } });
  switch (reason) {
    case 'unasked':
      return refused('The browser’s built-in model needs a user message.');
    case 'too-long':
      return refused(
        tokens === undefined
          ? 'The conversation is too long for the browser’s built-in model. Start a new chat.'
          : `The conversation has ${tokens} tokens, but the browser’s built-in model allows ${takes}. Start a new chat.`,
      );
    case 'unfit':
      return refused(`The browser’s built-in model does not support this: ${why}`);
    default:
      return new RpcError(
        'INTERNAL_ERROR',
        `The browser’s built-in model failed: ${why}`,
        { details: { reason: 'runner' } },
        { cause: error },
      );
  }
}
