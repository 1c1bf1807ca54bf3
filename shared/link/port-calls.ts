import type { Contracts, ContractParams, ParsedParams, ContractResult } from '../rpc/contract.ts';
import { ERROR_CODES, RpcError } from '../rpc/rpc-error.ts';
import { z } from '../rpc/zod.ts';
import { formatIssue } from '../rpc/format-issue.ts';
import type { Link } from './link.ts';

export type EventSchemas = Record<string, z.ZodType>;

const cancellation = z.object({ cancel: z.number().int() });
const request = z.object({ id: z.number().int(), call: z.string(), params: z.unknown().optional() });
const failure = z.object({ code: z.enum(ERROR_CODES), message: z.string(), details: z.record(z.string(), z.unknown()).optional() });
const incomingMessage = z.union([
  z.object({ event: z.string(), payload: z.unknown().optional() }),
  z.object({ id: z.number().int(), error: failure }),
  z.object({ id: z.number().int(), result: z.unknown() }),
]);

/** The other side went away before it had answered. */
export class CallsClosed extends Error {
  override name = 'CallsClosed';
}

/** The side of a port that asks: typed calls, and the events that the other side sends. */
export interface PortClient<C extends Contracts, E extends EventSchemas> {
  /** Rejects with the other side's `RpcError`, with `CallsClosed`, or with the reason of `signal`, which also aborts the call on the other side. */
  call<N extends keyof C & string>(name: N, params: ContractParams<C[N]>, signal?: AbortSignal): Promise<ContractResult<C[N]>>;
  on<N extends keyof E & string>(event: N, listener: (payload: z.output<E[N]>) => void): void;
  /** Resolves when the port is gone; never rejects. */
  readonly closed: Promise<{ code: number; reason: string }>;
  close(): void;
}

/**
 * Calls a port over `link`: JSON texts `{id, call, params}` out; `{id, result}`, `{id, error}` and `{event, payload}` in; `{cancel: id}`
 * out for a call that is cancelled.
 */
export function createPortClient<C extends Contracts, E extends EventSchemas>(
  link: Link<string>,
  contracts: C,
  events: E,
): PortClient<C, E> {
  const pendingCalls = new Map<number, { name: string; resolve(result: never): void; reject(error: Error): void }>();
  const listeners = new Map<string, (payload: never) => void>();
  const closed = Promise.withResolvers<{ code: number; reason: string }>();
  let lastId = 0;
  let closedError: Error | undefined;

  const read = (text: string): void => {
    const message = incomingMessage.parse(JSON.parse(text));
    if ('event' in message) return listeners.get(message.event)?.(events[message.event]?.parse(message.payload) as never);
    const pending = pendingCalls.get(message.id);
    pendingCalls.delete(message.id);
    if (!pending) return;
    if ('error' in message) return pending.reject(RpcError.from(message.error));
    const result = contracts[pending.name]?.result.safeParse(message.result);
    if (result?.success) pending.resolve(result.data as never);
    else pending.reject(new RpcError('INTERNAL_ERROR', `The response to ${pending.name} is invalid.`));
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
      closedError = new CallsClosed(reason || 'The connection was closed');
      for (const { reject } of pendingCalls.values()) reject(closedError);
      pendingCalls.clear();
      closed.resolve({ code, reason });
    },
  });
  return {
    closed: closed.promise,
    close: () => link.close(),
    on: (event, listener) => void listeners.set(event, listener as (payload: never) => void),
    async call(name, params, signal) {
      if (closedError) throw closedError;
      signal?.throwIfAborted();
      const id = ++lastId;
      const response = new Promise<never>((resolve, reject) => pendingCalls.set(id, { name, resolve, reject }));
      link.send(JSON.stringify({ id, call: name, params }));
      if (!signal) return response;
      const cancel = (): void => {
        const pending = pendingCalls.get(id);
        if (!pendingCalls.delete(id)) return;
        link.send(JSON.stringify({ cancel: id }));
        pending?.reject(signal.reason as Error);
      };
      signal.addEventListener('abort', cancel, { once: true });
      return response.finally(() => signal.removeEventListener('abort', cancel));
    },
  };
}

/** Handlers of a port's calls: each returns or throws. `signal` fires when the caller cancels. */
export type CallHandlers<C extends Contracts> = {
  [N in keyof C]: (params: ParsedParams<C[N]>, signal: AbortSignal) => Promise<ContractResult<C[N]>>;
};

/** The side of a port that answers. */
export interface PortServer<E extends EventSchemas> {
  send<N extends keyof E & string>(event: N, payload: z.input<E[N]>): void;
  close(code?: number, reason?: string): void;
}

/**
 * Answers calls on a link. An invalid call, or params that the contract refuses, get `INVALID_PARAMS`; an exception of a handler that is
 * not an `RpcError` is passed to `fault` and becomes `INTERNAL_ERROR`. A message without a readable id closes the link.
 */
export function serveCalls<C extends Contracts, E extends EventSchemas>(
  link: Link<string>,
  contracts: C,
  handlers: CallHandlers<C>,
  { fault, onclose }: { fault: (error: unknown) => void; onclose?: () => void },
): PortServer<E> {
  const reply = (message: object): void => link.send(JSON.stringify(message));
  const running = new Map<number, AbortController>();
  const serve = async (text: string): Promise<void> => {
    const message: unknown = JSON.parse(text);
    const cancelled = cancellation.safeParse(message);
    if (cancelled.success) return running.get(cancelled.data.cancel)?.abort(new Error('the caller cancelled the call'));
    const { id, call, params } = request.parse(message);
    const controller = new AbortController();
    running.set(id, controller);
    try {
      if (!Object.hasOwn(contracts, call)) throw new RpcError('METHOD_NOT_FOUND', `Unknown method "${call}".`);
      const parsed = contracts[call]?.params.safeParse(params);
      if (!parsed?.success) throw new RpcError('INVALID_PARAMS', `${call}: ${formatIssue(parsed?.error.issues[0], 'params')}.`);
      reply({ id, result: await handlers[call]?.(parsed.data as never, controller.signal) });
    } catch (error) {
      if (controller.signal.aborted) return;
      if (!(error instanceof RpcError)) fault(error);
      const { code, message, extra } = error instanceof RpcError ? error : new RpcError('INTERNAL_ERROR', `${call} failed.`);
      reply({ id, error: { code, message, ...(extra.details ? { details: extra.details } : {}) } });
    } finally {
      running.delete(id);
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
