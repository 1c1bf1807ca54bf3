import type { Link } from '#shared/link/link.ts';
import { type EarlierShape, earlierShape } from '#shared/rpc/compat.ts';
import { PAIRING } from '#shared/rpc/contract.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { type AnyEvent, type EventPayload, events } from '#shared/rpc/events.ts';
import { CLOSE, LIMITS, MIN_PROTOCOL, PROTOCOL, type RequestFrame, type ResponseFrame } from '#shared/rpc/frames.ts';
import { contracts } from '#shared/rpc/methods/index.ts';
import type { PresenceEntry } from '#shared/rpc/methods/status.ts';
import type { Admission } from './admission.ts';
import type { Clock } from './clock.ts';
import { ConnectionLimits } from './connection-limits.ts';
import { readClientFrame } from './client-frame.ts';
import { type Caller, type Dispatcher, METHOD_NAMES, parseParams } from './dispatch.ts';
import type { Subscriber } from './hub.ts';
import type { Idempotency } from './idempotency.ts';
import type { LogWriter } from './log/log.ts';
import { type MovedClient, readMoved } from './moved.ts';
import { PAIRING_METHODS, PAIRING_MS, PairingGate } from './pairing-gate.ts';
import type { PresentClient } from './status/presence.ts';

export interface ConnectionDeps {
  clock: Clock;
  dispatcher: Dispatcher;
  idempotency: Idempotency;
  version: string;
  health(): { status: 'ok' | 'draining' | 'degraded'; uptime: number; connections: number };
  presence(): PresenceEntry[];
  log: LogWriter;
  rateLimit(): { perMinute: number; burst: number } | null;
  /** Turns a fault of ours into what the caller may see, and logs it. */
  fault(error: unknown): RpcError;
  /** Whether a code is one that a device can be paired with; that it is none counts as a try. */
  admits(pairingCode: string): Promise<boolean>;
  /** The connection is made and ready for events; the result ends that. */
  joined(connection: Connection): () => void;
  closed(): void;
}

/** From this much in the link's queue on, deltas of a run are merged instead of sent one by one. */
const MERGE_FROM = 64 * 1024;
/** Sessions that a client goes on following at another host; an opening has 64 KB. */
const MAX_FOLLOWS = 100;

/** One client: the first-frame rule, protocol range, `seq`, limits, and dispatch (decisions, "Frames and connection"). */
export class Connection implements Subscriber {
  readonly id: string;
  all = false;

  readonly #link: Link<string>;
  readonly #admission: Admission;
  readonly #deps: ConnectionDeps;
  readonly #followed = new Set<string>();
  readonly #inFlight = new Set<string>();
  readonly #gone = new AbortController();
  readonly #caller: Caller;
  /** Deltas that wait for the link to drain, by run; in order of arrival. */
  readonly #merged = new Map<string, EventPayload<'chat.delta'>>();
  #mergedChars = 0;
  #limits: ConnectionLimits | undefined;
  #seq: number;
  #protocol: number | undefined;
  #leave: (() => void) | undefined;
  #cancelTimeout: () => void;
  /** Size of the newest response while it is on its way: it does not count against the buffer limit. */
  #responseChars = 0;
  #open = true;
  /** How to close once no call is under way. */
  #leaving: { code: number; reason: string } | undefined;
  /** What the host before said of the client cannot be read. */
  readonly #lost: boolean;
  /** All that the client sends to this host has been heard. */
  #left = false;
  #name: string | undefined;
  #version: string | undefined;
  #activeAt: number;
  readonly #gate = new PairingGate();

  constructor(link: Link<string>, admission: Admission, deps: ConnectionDeps) {
    this.#link = link;
    this.#admission = admission;
    this.#deps = deps;
    const before = readMoved(admission.moved);
    this.#lost = admission.moved !== undefined && !before;
    this.id = before?.connId ?? crypto.randomUUID();
    this.#activeAt = deps.clock.now();
    this.#seq = before?.seq ?? (admission.challenged ? 1 : 0);
    for (const key of before?.follows ?? []) this.#followed.add(key);
    this.#caller = {
      connId: this.id,
      principal: admission.principal,
      scopes: admission.scopes,
      follow: (key) => void this.#followed.add(key),
      signal: this.#gone.signal,
    };
    this.#cancelTimeout = deps.clock.after(LIMITS.connectTimeoutMs, () => this.close(CLOSE.policy, 'no connect within 15 s'));
  }

  /** Begins to read. What had come before is heard at once, and may end the connection within this call. */
  start(): void {
    // The client is asked to connect anew.
    if (this.#lost) return this.close(CLOSE.handingOver, 'the client cannot be taken over');
    this.#link.receive({
      message: (text) => this.#read(text),
      drain: () => this.#drained(),
      close: () => this.#ended(),
      left: () => {
        this.#left = true;
        this.#leaveIfIdle();
      },
    });
    if (this.#admission.challenged) return;
    this.#event({ event: 'connect.challenge', payload: { nonce: crypto.randomUUID(), ts: this.#deps.clock.now() } });
  }

  follows(sessionKey: string): boolean {
    return this.#followed.has(sessionKey);
  }

  /** Sends an event, or merges it with the deltas that wait. */
  push(event: AnyEvent): void {
    if (!this.#open) return;
    if (event.event === 'chat.delta') {
      const waiting = this.#merged.get(event.payload.runId);
      if (waiting || this.#link.buffered > MERGE_FROM) {
        this.#merged.set(event.payload.runId, waiting ? { ...waiting, delta: waiting.delta + event.payload.delta } : event.payload);
        this.#mergedChars += event.payload.delta.length;
        return this.#checkBuffer();
      }
    } else if (this.#merged.size > 0) this.#sendMerged();
    this.#event(event);
    this.#checkBuffer();
  }

  close(code: number, reason: string): void {
    if (!this.#open) return;
    this.#link.close(code, reason);
    this.#ended();
  }

  get principal(): string {
    return this.#admission.principal;
  }

  /** As others may know it. */
  get present(): PresentClient {
    const app = this.principal.startsWith('app:');
    return { id: this.id, name: this.#name, version: this.#version, app, activeAt: this.#activeAt };
  }

  /** A socket, not a page's port. */
  get socket(): boolean {
    return this.#admission.socket;
  }

  /**
   * Lets the client go as soon as no call is under way, at once or after the last answer: to the next host where the bridge can take it there, else by closing.
   * Until then it serves as before. Undefined takes that back.
   */
  closeWhenIdle(leaving: { code: number; reason: string } | undefined): void {
    this.#leaving = leaving;
    this.#leaveIfIdle();
  }

  #leaveIfIdle(): void {
    // From where the bridge holds back what the client sends there is no way back.
    if ((!this.#leaving && !this.#left) || this.#inFlight.size > 0 || !this.#open) return;
    const { movable } = this.#admission;
    if (this.#leaving && (!movable || this.#protocol === undefined)) return this.close(this.#leaving.code, this.#leaving.reason);
    if (!movable) return;
    if (!this.#left) return movable.leave();
    this.#sendMerged();
    const follows = [...this.#followed].slice(-MAX_FOLLOWS);
    movable.move(JSON.stringify({ connId: this.id, seq: this.#seq, follows } satisfies MovedClient));
    this.#ended();
  }

  #read(text: string): void {
    if (!this.#open) return;
    const before = this.#protocol === undefined;
    if (text.length > (before ? LIMITS.maxPayloadBeforeConnect : LIMITS.maxPayload))
      return this.close(CLOSE.tooBig, 'the frame is too large');
    if (this.#gate.shut) return this.#gate.hold(text) ? undefined : this.close(CLOSE.tooBig, 'too much before the answer to connect');
    const read = readClientFrame(text);
    if ('close' in read) return this.close(CLOSE.policy, read.close);
    if ('error' in read) return this.#respond({ type: 'res', id: read.id, ok: false, error: read.error.toShape() });
    if (before) void this.#connect(read.frame);
    else void this.#call(read.frame);
  }

  async #connect({ id, method, params }: RequestFrame): Promise<void> {
    const refuse = (error: RpcError, code: number): void => {
      this.#deps.log.write('warn', 'connections', `A connection was refused: ${error.message}`, { principal: this.#admission.principal });
      this.#respond({ type: 'res', id, ok: false, error: error.toShape() });
      this.close(code, error.message);
    };
    if (method !== 'connect') return refuse(new RpcError('AUTH_REQUIRED', 'The first request must be connect'), CLOSE.policy);
    let given;
    try {
      given = parseParams(contracts.connect.params, params);
    } catch (error) {
      return refuse(this.#deps.fault(error), CLOSE.policy);
    }
    if (given.maxProtocol < MIN_PROTOCOL || given.minProtocol > PROTOCOL || given.minProtocol > given.maxProtocol) {
      const details = { expectedProtocol: PROTOCOL };
      return refuse(
        new RpcError('INVALID_PARAMS', `This gateway speaks protocol ${MIN_PROTOCOL} to ${PROTOCOL}`, { details }),
        CLOSE.protocolError,
      );
    }
    this.#cancelTimeout();
    const { proof, moved, pairingCode = '' } = this.#admission;
    if (this.principal === PAIRING) {
      this.#cancelTimeout = this.#deps.clock.after(PAIRING_MS, () => this.close(CLOSE.normal, 'the time to pair is over'));
      // The host before has looked at the code of a client that is taken over.
      if (moved === undefined) {
        try {
          const refusal = await this.#gate.refusal(() => this.#deps.admits(pairingCode));
          if (refusal) return refuse(refusal, CLOSE.policy);
        } catch (error) {
          return refuse(this.#deps.fault(error), CLOSE.internal);
        }
      }
    }
    if (!this.#open) return;
    this.#protocol = Math.min(given.maxProtocol, PROTOCOL);
    this.all = given.events === 'all' && this.principal !== PAIRING;
    this.#name = given.clientName ?? given.client?.displayName ?? given.client?.id;
    this.#version = given.client?.version;
    const limit = this.#admission.socket ? this.#deps.rateLimit() : null;
    if (limit) this.#limits = this.#limitsOf(limit);
    this.#leave = this.#deps.joined(this);
    if (moved !== undefined) return;
    this.#respond({
      type: 'res',
      id,
      ok: true,
      payload: {
        protocol: this.#protocol,
        server: { name: 'perch', version: this.#deps.version, connId: this.id },
        features: { methods: this.principal === PAIRING ? PAIRING_METHODS : METHOD_NAMES, events: Object.keys(events) },
        policy: { maxPayload: LIMITS.maxPayload, maxBufferedBytes: LIMITS.maxBufferedBytes, tickIntervalMs: LIMITS.tickIntervalMs },
        snapshot: { presence: this.#deps.presence(), health: this.#deps.health() },
        ...(proof === undefined ? {} : { auth: { proof } }),
      },
    });
    for (const text of this.#gate.open()) this.#read(text);
  }

  async #call({ id, method, params }: RequestFrame): Promise<void> {
    if (this.#inFlight.has(id)) {
      const error = new RpcError('INVALID_PARAMS', `id: a request with the id ${JSON.stringify(id.slice(0, 80))} is under way`);
      return this.#respond({ type: 'res', id, ok: false, error: error.toShape() });
    }
    this.#inFlight.add(id);
    this.#activeAt = this.#deps.clock.now();
    try {
      const payload = await this.#dispatch(method, params);
      this.#respond({ type: 'res', id, ok: true, payload });
    } catch (error) {
      const failure = this.#deps.fault(error);
      this.#respond({ type: 'res', id, ok: false, error: failure.toShape() });
      // Another code was tried, or this one is no good any more: each guess costs a connection, which the bridge counts.
      if (this.principal === PAIRING && failure.code === 'NOT_FOUND') this.close(CLOSE.policy, failure.message);
    } finally {
      this.#inFlight.delete(id);
      this.#leaveIfIdle();
    }
  }

  #dispatch(method: string, params: Record<string, unknown>): Promise<unknown> {
    const { dispatcher, idempotency } = this.#deps;
    if (method === 'connect') throw new RpcError('INVALID_PARAMS', 'This connection is established already');
    this.#limits?.take(method, dispatcher.contractOf(method)?.policy.controlPlane ?? false);
    const earlier: EarlierShape | undefined = this.#protocol === PROTOCOL ? undefined : earlierShape(method);
    if (earlier?.method === null) throw new RpcError('NOT_IMPLEMENTED', `${method} is not part of protocol ${MIN_PROTOCOL}`);
    const run = async (): Promise<unknown> => {
      const payload = await dispatcher.call(earlier?.method ?? method, params, this.#caller);
      return earlier ? earlier.shape(payload) : payload;
    };
    const key = params.idempotencyKey;
    if (typeof key !== 'string' || !dispatcher.contractOf(method)?.policy.idempotent) return run();
    return idempotency.once(JSON.stringify([this.#admission.principal, method, key]), run);
  }

  #limitsOf(limit: { perMinute: number; burst: number }): ConnectionLimits {
    const { clock, log } = this.#deps;
    const { principal } = this.#admission;
    const onlimited = (method: string): void =>
      log.write('warn', 'connections', 'A connection sends too many requests', { connId: this.id, principal, method });
    return new ConnectionLimits({ clock, limit, onlimited });
  }

  #respond(frame: ResponseFrame): void {
    if (!this.#open) return;
    if (this.#merged.size > 0) this.#sendMerged();
    const text = JSON.stringify(frame);
    this.#responseChars = Math.max(this.#responseChars, text.length);
    this.#link.send(text);
    this.#checkBuffer();
  }

  #event({ event, payload }: AnyEvent): void {
    this.#link.send(JSON.stringify({ type: 'event', event, seq: ++this.#seq, payload }));
  }

  #sendMerged(): void {
    for (const payload of this.#merged.values()) this.#event({ event: 'chat.delta', payload });
    this.#merged.clear();
    this.#mergedChars = 0;
  }

  #drained(): void {
    this.#responseChars = 0;
    if (this.#open) this.#sendMerged();
  }

  #checkBuffer(): void {
    // A response's characters count double: each may take more than a byte.
    if (this.#link.buffered + this.#mergedChars > LIMITS.maxBufferedBytes + this.#responseChars * 2)
      this.close(CLOSE.policy, 'slow consumer');
  }

  #ended(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#cancelTimeout();
    this.#leave?.();
    this.#gone.abort(new RpcError('ABORTED', 'The connection closed'));
    this.#merged.clear();
    this.#deps.closed();
  }
}
