import type { Contracts, ParamsOf, ParsedOf, ResultOf } from '../rpc/contract.ts';
import { ERROR_CODES, RpcError } from '../rpc/errors.ts';
import { z } from '../rpc/zod.ts';
import type { Link } from './link.ts';

export type EventSchemas = Record<string, z.ZodType>;

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
  /** Rejects with `RpcError` as the other side says it, or `CallsClosed`. */
  call<N extends keyof C & string>(name: N, params: ParamsOf<C[N]>): Promise<ResultOf<C[N]>>;
  on<N extends keyof E & string>(event: N, listener: (payload: z.output<E[N]>) => void): void;
  /** Resolves when the port is gone; never rejects. */
  readonly closed: Promise<{ code: number; reason: string }>;
  close(): void;
}

/** Calls a port over `link` (design.md, "Ports"): JSON texts `{id, call, params}` out; `{id, result}`, `{id, error}` and `{event, payload}` in. */
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
    else waiter.reject(new RpcError('INTERNAL_ERROR', `The answer to ${waiter.name} cannot be understood`));
  };
  link.receive({
    message(text) {
      try {
        read(text);
      } catch {
        link.close(1002, 'a message that cannot be understood');
      }
    },
    close(code, reason) {
      gone = new CallsClosed(reason || 'The other side of the port is gone');
      for (const { reject } of waiting.values()) reject(gone);
      waiting.clear();
      closed.resolve({ code, reason });
    },
  });
  return {
    closed: closed.promise,
    close: () => link.close(),
    on: (event, listener) => void listeners.set(event, listener as (payload: never) => void),
    call(name, params) {
      if (gone) return Promise.reject(gone);
      const id = ++lastId;
      return new Promise((resolve, reject) => {
        waiting.set(id, { name, resolve: resolve as (result: never) => void, reject });
        link.send(JSON.stringify({ id, call: name, params }));
      });
    },
  };
}

/** What a port does for its callers: a handler returns or throws. */
export type CallHandlers<C extends Contracts> = { [N in keyof C]: (params: ParsedOf<C[N]>) => Promise<ResultOf<C[N]>> };

/** The side of a port that answers. */
export interface Answerer<E extends EventSchemas> {
  send<N extends keyof E & string>(event: N, payload: z.input<E[N]>): void;
  close(code?: number, reason?: string): void;
}

/**
 * Answers calls on a link. What is no call, or has params that the contract refuses, gets `INVALID_PARAMS`; what a handler throws and is no
 * `RpcError` is told to `fault` and becomes `INTERNAL_ERROR`. A message without a readable id closes the link.
 */
export function answer<C extends Contracts, E extends EventSchemas>(
  link: Link<string>,
  contracts: C,
  handlers: CallHandlers<C>,
  { fault, onclose }: { fault: (error: unknown) => void; onclose?: () => void },
): Answerer<E> {
  const reply = (message: object): void => link.send(JSON.stringify(message));
  const serve = async (text: string): Promise<void> => {
    const { id, call, params } = request.parse(JSON.parse(text));
    try {
      if (!Object.hasOwn(contracts, call)) throw new RpcError('METHOD_NOT_FOUND', `There is no call ${call}`);
      const parsed = contracts[call]?.params.safeParse(params);
      if (!parsed?.success) {
        const issue = parsed?.error.issues[0];
        throw new RpcError('INVALID_PARAMS', `${call}: ${issue?.path.join('.') ?? 'params'}: ${issue?.message ?? 'missing'}`);
      }
      reply({ id, result: await handlers[call]?.(parsed.data as never) });
    } catch (error) {
      if (!(error instanceof RpcError)) fault(error);
      const { code, message, extra } = error instanceof RpcError ? error : new RpcError('INTERNAL_ERROR', `${call} failed`);
      reply({ id, error: { code, message, ...(extra.details ? { details: extra.details } : {}) } });
    }
  };
  link.receive({
    message: (text) => void serve(text).catch(() => link.close(1002, 'a message that cannot be understood')),
    close: () => onclose?.(),
  });
  return {
    send: (event, payload) => reply({ event, payload }),
    close: (code, reason) => link.close(code, reason),
  };
}
