import { placeOf } from '../cut-short.ts';
import type { Contracts, ParamsOf, ParsedOf, ResultOf } from '../rpc/contract.ts';
import { ERROR_CODES, RpcError } from '../rpc/errors.ts';
import { z } from '../rpc/zod.ts';
import type { Link } from './link.ts';

export type EventSchemas = Record<string, z.ZodType>;

const cancellation = z.object({ cancel: z.number().int() });
const request = z.object({ id: z.number().int(), call: z.string(), params: z.unknown().optional() });
const failure = z.object({ code: z.enum(ERROR_CODES), message: z.string(), details: z.record(z.string(), z.unknown()).optional() });
const incoming = z.union([
  z.object({ event: z.string(), payload: z.unknown().optional() }),
  z.object({ id: z.number().int(), error: failure }),
  z.object({ id: z.number().int(), result: z.unknown() }),
]);

/** The other side went away before it had answered. */
export class CallsClosed extends Error {
  override name = 'CallsClosed';
}

/** The side of a port that asks: typed calls, and the events that the other side sends. */
export interface Caller<C extends Contracts, E extends EventSchemas> {
  /** Rejects with `RpcError` as the other side says it, with `CallsClosed`, or with the reason of `signal`, which also ends the call over there. */
  call<N extends keyof C & string>(name: N, params: ParamsOf<C[N]>, signal?: AbortSignal): Promise<ResultOf<C[N]>>;
  on<N extends keyof E & string>(event: N, listener: (payload: z.output<E[N]>) => void): void;
  /** Resolves when the port is gone; never rejects. */
  readonly closed: Promise<{ code: number; reason: string }>;
  close(): void;
}

/**
 * Calls a port over `link`: JSON texts `{id, call, params}` out; `{id, result}`, `{id, error}` and `{event, payload}` in; `{cancel: id}`
 * out for a call that is cancelled.
 */
export function caller<C extends Contracts, E extends EventSchemas>(link: Link<string>, contracts: C, events: E): Caller<C, E> {
  const waiting = new Map<number, { name: string; resolve(result: never): void; reject(error: Error): void }>();
  const listeners = new Map<string, (payload: never) => void>();
  const closed = Promise.withResolvers<{ code: number; reason: string }>();
  let lastId = 0;
  let gone: Error | undefined;

  const read = (text: string): void => {
    const message = incoming.parse(JSON.parse(text));
    if ('event' in message) return listeners.get(message.event)?.(events[message.event]?.parse(message.payload) as never);
    const waiter = waiting.get(message.id);
    waiting.delete(message.id);
    if (!waiter) return;
    if ('error' in message) return waiter.reject(RpcError.from(message.error));
    const result = contracts[waiter.name]?.result.safeParse(message.result);
    if (result?.success) waiter.resolve(result.data as never);
    else waiter.reject(new RpcError('INTERNAL_ERROR', `The response to ${waiter.name} is invalid.`));
  };
  link.receive({
    message(text) {
      try {
        read(text);
      } catch {
        link.close(1002, 'invalid message');
      }
    },
    close(code, reason) {
      gone = new CallsClosed(reason || 'The connection was closed');
      for (const { reject } of waiting.values()) reject(gone);
      waiting.clear();
      closed.resolve({ code, reason });
    },
  });
  return {
    closed: closed.promise,
    close: () => link.close(),
    on: (event, listener) => void listeners.set(event, listener as (payload: never) => void),
    async call(name, params, signal) {
      if (gone) throw gone;
      signal?.throwIfAborted();
      const id = ++lastId;
      const answered = new Promise<never>((resolve, reject) => waiting.set(id, { name, resolve, reject }));
      link.send(JSON.stringify({ id, call: name, params }));
      if (!signal) return answered;
      const cancel = (): void => {
        const waiter = waiting.get(id);
        if (!waiting.delete(id)) return;
        link.send(JSON.stringify({ cancel: id }));
        waiter?.reject(signal.reason as Error);
      };
      signal.addEventListener('abort', cancel, { once: true });
      return answered.finally(() => signal.removeEventListener('abort', cancel));
    },
  };
}

/** Handlers of a port's calls: each returns or throws. `signal` fires when the caller cancels. */
export type CallHandlers<C extends Contracts> = {
  [N in keyof C]: (params: ParsedOf<C[N]>, signal: AbortSignal) => Promise<ResultOf<C[N]>>;
};

/** The side of a port that answers. */
export interface Answerer<E extends EventSchemas> {
  send<N extends keyof E & string>(event: N, payload: z.input<E[N]>): void;
  close(code?: number, reason?: string): void;
}

/**
 * Answers calls on a link. An invalid call, or params that the contract refuses, get `INVALID_PARAMS`; an exception of a handler that is
 * not an `RpcError` is passed to `fault` and becomes `INTERNAL_ERROR`. A message without a readable id closes the link.
 */
export function answer<C extends Contracts, E extends EventSchemas>(
  link: Link<string>,
  contracts: C,
  handlers: CallHandlers<C>,
  { fault, onclose }: { fault: (error: unknown) => void; onclose?: () => void },
): Answerer<E> {
  const reply = (message: object): void => link.send(JSON.stringify(message));
  const underWay = new Map<number, AbortController>();
  const serve = async (text: string): Promise<void> => {
    const message: unknown = JSON.parse(text);
    const cancelled = cancellation.safeParse(message);
    if (cancelled.success) return underWay.get(cancelled.data.cancel)?.abort(new Error('the caller cancelled the call'));
    const { id, call, params } = request.parse(message);
    const own = new AbortController();
    underWay.set(id, own);
    try {
      if (!Object.hasOwn(contracts, call)) throw new RpcError('METHOD_NOT_FOUND', `Unknown method "${call}".`);
      const parsed = contracts[call]?.params.safeParse(params);
      if (!parsed?.success) {
        const issue = parsed?.error.issues[0];
        throw new RpcError(
          'INVALID_PARAMS',
          `${call}: ${issue && issue.path.length > 0 ? `\`${placeOf(issue.path)}\`` : 'params'} ${issue?.message ?? 'is required'}.`,
        );
      }
      reply({ id, result: await handlers[call]?.(parsed.data as never, own.signal) });
    } catch (error) {
      if (own.signal.aborted) return;
      if (!(error instanceof RpcError)) fault(error);
      const { code, message, extra } = error instanceof RpcError ? error : new RpcError('INTERNAL_ERROR', `${call} failed.`);
      reply({ id, error: { code, message, ...(extra.details ? { details: extra.details } : {}) } });
    } finally {
      underWay.delete(id);
    }
  };
  link.receive({
    message: (text) => void serve(text).catch(() => link.close(1002, 'invalid message')),
    close: () => onclose?.(),
  });
  return {
    send: (event, payload) => reply({ event, payload }),
    close: (code, reason) => link.close(code, reason),
  };
}
