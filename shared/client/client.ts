import { type ErrorShape, RpcError } from '../rpc/rpc-error.ts';
import type { EventName, EventPayload } from '../rpc/events.ts';
import type { EventFrame, ResponseFrame } from '../rpc/frames.ts';
import { CLOSE_CODES, PROTOCOL_VERSION } from '../rpc/limits.ts';
import type { MethodName, MethodParams, MethodResult } from '../rpc/methods/index.ts';
import type { Link } from '../link/link.ts';

type Fields = Record<string, unknown>;

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

const isResponse = (frame: Fields): boolean =>
  typeof frame.id === 'string' &&
  (frame.ok === true ||
    (frame.ok === false && isObject(frame.error) && typeof frame.error.code === 'string' && typeof frame.error.message === 'string'));

const isEvent = (frame: Fields): boolean => typeof frame.event === 'string' && Number.isInteger(frame.seq) && isObject(frame.payload);

export type ConnectResult = MethodResult<'connect'>;
export type ConnectParams = Omit<MethodParams<'connect'>, 'minProtocol' | 'maxProtocol'>;

export type Challenge = EventPayload<'connect.challenge'>;

export interface ConnectOptions {
  /** Params of `connect` in addition to the protocol range; may depend on the challenge (its nonce, milliseconds). */
  params: ConnectParams | ((challenge: Challenge) => ConnectParams | Promise<ConnectParams>);
  /** Verifies the response before the connection is established; throws to reject it (mutual proof). */
  verify?: (result: ConnectResult, challenge: Challenge) => void | Promise<void>;
  /** Milliseconds until `connect` gives up; 15,000 by default. */
  timeoutMs?: number;
}

interface PendingCall {
  resolve(payload: unknown): void;
  reject(error: Error): void;
}

type Listener = (payload: never, event: EventFrame) => void;
/** Called with each frame sent or received. */
export type FrameWatcher = (direction: 'sent' | 'received', text: string) => void;

/**
 * Client of protocol 3 over any text link: typed calls and events. A failed call rejects with `RpcError`; a pending one rejects with
 * `ConnectionClosed` when the link closes.
 */
export class GatewayClient {
  readonly #link: Link<string>;
  readonly #pendingCalls = new Map<string, PendingCall>();
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #watchers = new Set<FrameWatcher>();
  #count = 0;
  #lastSeq = 0;
  #idleWaiters: (() => void)[] = [];
  #end: ConnectionClosed | undefined;
  #settleClosed!: (end: ConnectionClosed) => void;
  /** Resolves when the connection has closed. Never rejects. */
  readonly closed: Promise<ConnectionClosed>;
  /** Result of `connect`. */
  hello!: ConnectResult;

  private constructor(link: Link<string>) {
    this.#link = link;
    this.closed = new Promise((resolve) => (this.#settleClosed = resolve));
  }

  /** Waits for the challenge, then connects. Rejects with `RpcError` (refused) or `ConnectionClosed`. */
  static async connect(link: Link<string>, { params, verify, timeoutMs = 15_000 }: ConnectOptions): Promise<GatewayClient> {
    const client = new GatewayClient(link);
    const challenged = Promise.withResolvers<Challenge>();
    const stop = client.on('connect.challenge', challenged.resolve);
    link.receive({ message: (text) => client.#read(text), close: (code, reason) => client.#closedBy(code, reason) });
    const timer = setTimeout(() => client.close(4000, 'The gateway didn’t respond'), timeoutMs);
    const completeConnect = async (): Promise<GatewayClient> => {
      const challenge = await challenged.promise;
      const connectParams = typeof params === 'function' ? await params(challenge) : params;
      client.hello = await client.call('connect', { minProtocol: PROTOCOL_VERSION, maxProtocol: PROTOCOL_VERSION, ...connectParams });
      await verify?.(client.hello, challenge);
      return client;
    };
    const failed = client.closed.then((end) => Promise.reject(end));
    failed.catch(() => {});
    try {
      return await Promise.race([completeConnect(), failed]);
    } catch (error) {
      client.close();
      throw error;
    } finally {
      clearTimeout(timer);
      stop();
    }
  }

  /** Number of pending calls. */
  get pending(): number {
    return this.#pendingCalls.size;
  }

  /** Resolves when no call is pending or the connection has closed. Never rejects. New calls may have been made by then. */
  idle(): Promise<void> {
    return this.#pendingCalls.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  /** Calls a method. `signal` stops waiting, not the operation: use `chat.abort` for that. */
  call<M extends MethodName>(method: M, params: MethodParams<M>, { signal }: { signal?: AbortSignal } = {}): Promise<MethodResult<M>> {
    return this.request(method, params, signal) as Promise<MethodResult<M>>;
  }

  /** Calls a method by any name, untyped: for consoles and command lines. */
  request(method: string, params: unknown, signal?: AbortSignal): Promise<unknown> {
    if (this.#end) return Promise.reject(this.#end);
    if (signal?.aborted) return Promise.reject(signal.reason);
    const id = String(++this.#count);
    let text: string;
    try {
      text = JSON.stringify({ type: 'req', id, method, params });
    } catch (error) {
      return Promise.reject(error);
    }
    return new Promise((resolve, reject) => {
      const onabort = (): void => {
        this.#forget(id);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', onabort, { once: true });
      const removeAbortListener = (): void => signal?.removeEventListener('abort', onabort);
      this.#pendingCalls.set(id, {
        resolve: (payload) => (removeAbortListener(), resolve(payload)),
        reject: (error) => (removeAbortListener(), reject(error)),
      });
      for (const watcher of this.#watchers) watcher('sent', text);
      this.#link.send(text);
    });
  }

  /** Listens to an event. Returns a function that unsubscribes. */
  on<E extends EventName>(event: E, listener: (payload: EventPayload<E>, frame: EventFrame) => void): () => void {
    let set = this.#listeners.get(event);
    if (!set) this.#listeners.set(event, (set = new Set()));
    set.add(listener as Listener);
    return () => set.delete(listener as Listener);
  }

  /** Calls `watcher` with every message from now on, even invalid ones; the result removes it. A watcher must not throw. */
  watch(watcher: FrameWatcher): () => void {
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  close(code = 1000, reason = ''): void {
    this.#link.close(code, reason);
    this.#closedBy(code, reason);
  }

  #read(text: string): void {
    if (this.#end) return;
    for (const watcher of this.#watchers) watcher('received', text);
    let frame: ResponseFrame | EventFrame | null;
    try {
      frame = readFrame(text);
    } catch {
      return this.close(CLOSE_CODES.protocolError, 'The gateway sent an invalid frame');
    }
    if (frame?.type === 'res') this.#answered(frame);
    else if (frame?.type === 'event') this.#dispatchEvent(frame);
  }

  #answered(frame: ResponseFrame): void {
    const pendingCall = this.#pendingCalls.get(frame.id);
    this.#forget(frame.id);
    if (frame.ok) pendingCall?.resolve(frame.payload);
    else pendingCall?.reject(RpcError.from(frame.error));
  }

  #forget(id: string): void {
    this.#pendingCalls.delete(id);
    if (this.#pendingCalls.size > 0) return;
    for (const resume of this.#idleWaiters.splice(0)) resume();
  }

  #dispatchEvent(frame: EventFrame): void {
    if (frame.seq !== this.#lastSeq + 1) return this.close(4001, `Event ${this.#lastSeq + 1} is missing`);
    this.#lastSeq = frame.seq;
    for (const listener of this.#listeners.get(frame.event) ?? []) {
      try {
        listener(frame.payload as never, frame);
      } catch (error) {
        // Its own fault, not that of the other listeners or the connection: reported as uncaught, as an EventTarget does.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  #closedBy(code: number, reason: string): void {
    if (this.#end) return;
    this.#end = new ConnectionClosed(code, reason);
    for (const waiting of this.#pendingCalls.values()) waiting.reject(this.#end);
    this.#pendingCalls.clear();
    for (const resume of this.#idleWaiters.splice(0)) resume();
    this.#settleClosed(this.#end);
  }
}

/** The connection has closed. `code` is a WebSocket close code. */
export class ConnectionClosed extends Error {
  override name = 'ConnectionClosed';
  readonly code: number;
  readonly reason: string;

  constructor(code: number, reason: string) {
    super(reason || `The connection was closed (${code})`);
    this.code = code;
    this.reason = reason;
  }
}

export { RpcError, type ErrorShape };

/**
 * Parses a frame from the server; null for unknown kinds, which a newer server may have added. Throws if it is invalid. Written by hand,
 * since a schema would copy every delta's payload; the payload is checked by the contract.
 */
function readFrame(text: string): ResponseFrame | EventFrame | null {
  const frame: unknown = JSON.parse(text);
  if (!isObject(frame) || typeof frame.type !== 'string') throw new TypeError('not a frame');
  if (frame.type !== 'res' && frame.type !== 'event') return null;
  if (!(frame.type === 'res' ? isResponse(frame) : isEvent(frame))) throw new TypeError(`not a valid frame of type ${frame.type}`);
  return frame as unknown as ResponseFrame | EventFrame;
}
