import type { Link } from '#shared/link/link.ts';
import { allows, PAIRING } from '#shared/rpc/contract.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import type { AnyEvent } from '#shared/rpc/events.ts';
import { CLOSE, LIMITS, MIN_PROTOCOL, PROTOCOL, type RequestFrame, type ResponseFrame } from '#shared/rpc/frames.ts';
import { EVENT_SCOPES } from '#shared/rpc/method-scopes.ts';
import { connection } from '#shared/rpc/methods/connection.ts';
import type { PresenceEntry } from '#shared/rpc/methods/status.ts';
import { EVENT_NAMES, POLICIES } from '#shared/rpc/tables.ts';
import type { Admission } from './admission.ts';
import type { Clock } from './clock.ts';
import { ConnectionLimits } from './connection-limits.ts';
import { readClientFrame } from './client-frame.ts';
import { parseParams } from './dispatch.ts';
import { followedKey } from './drawings/followed.ts';
import type { Subscriber } from './hub.ts';
import type { LogWriter } from './log/log.ts';
import { type MovedClient, readMoved } from './moved.ts';
import { PAIRING_METHODS, PAIRING_MS, PairingGate } from './pairing-gate.ts';
import { PendingRequests, type PendingRequestsDeps } from './pending-requests.ts';
import { SendBuffer } from './send-buffer.ts';
import type { PresentClient } from './status/presence.ts';

export interface ConnectionDeps extends PendingRequestsDeps {
  clock: Clock;
  version: string;
  health(): { status: 'ok' | 'draining' | 'degraded'; uptime: number; connections: number };
  presence(): PresenceEntry[];
  log: LogWriter;
  rateLimit(): { perMinute: number; burst: number } | null;
  /** Whether a device can be paired with a code; a wrong code counts as a failed attempt. */
  admits(pairingCode: string): Promise<boolean>;
  /** Called when the connection is ready for events; returns a function to call at its end. */
  joined(): () => void;
  closed(): void;
}

/**
 * Maximum number of sessions and drawings that a client keeps following when it moves to another host: the opening frame is limited to 64
 * KB.
 */
const MAX_FOLLOWS = 100;

/** Time after which a client held back by the bridge is released although a call is pending. */
const HELD_MS = 1_000;

/** One client, from its first frame until it disconnects or moves to another host. */
export class Connection implements Subscriber {
  readonly id: string;
  all = false;

  readonly #link: Link<string>;
  readonly #admission: Admission;
  readonly #deps: ConnectionDeps;
  readonly #followed = new Set<string>();
  readonly #gone = new AbortController();
  readonly #out: SendBuffer;
  /** Pending calls; undefined until the client has connected. */
  #requests: PendingRequests | undefined;
  #leave: (() => void) | undefined;
  #cancelTimeout: () => void;
  #open = true;
  /** How to close the connection once no call is pending. */
  #leaving: { code: number; reason: string } | undefined;
  /** Whether the state from the previous host cannot be read. */
  readonly #lost: boolean;
  /** Whether everything that the client sent to this host has been processed. */
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
    const seq = before?.seq ?? (admission.challenged ? 1 : 0);
    this.#out = new SendBuffer({ link, clock: deps.clock, seq, onslow: () => this.close(CLOSE.policy, 'slow consumer') });
    for (const key of before?.follows ?? []) this.#followed.add(key);
    this.#cancelTimeout = deps.clock.after(LIMITS.connectTimeoutMs, () => this.close(CLOSE.policy, 'no connect within 15 s'));
  }

  /** Starts reading. Frames that have already arrived are processed at once, and may close the connection within this call. */
  start(): void {
    // The client has to reconnect.
    if (this.#lost) return this.close(CLOSE.handingOver, 'cannot hand over the client');
    this.#link.receive({
      message: (text) => this.#read(text),
      drain: () => this.#out.drained(),
      close: () => this.#ended(),
      left: () => {
        this.#left = true;
        this.#leaveIfIdle();
        // A call that came in the meantime may take minutes, and nothing else from the client is processed until it is answered.
        if (!this.#open) return;
        this.#cancelTimeout();
        this.#cancelTimeout = this.#deps.clock.after(HELD_MS, () => this.close(CLOSE.handingOver, 'handed over to another host'));
      },
    });
    if (this.#admission.challenged) return;
    this.#out.event({ event: 'connect.challenge', payload: { nonce: crypto.randomUUID(), ts: this.#deps.clock.now() } });
  }

  follows(sessionKey: string): boolean {
    return this.#followed.has(sessionKey);
  }

  hasOpen(drawingId: string): boolean {
    return this.#followed.has(followedKey(drawingId));
  }

  mayHear({ event }: AnyEvent): boolean {
    const { scopes } = this.#admission;
    const scope = EVENT_SCOPES[event];
    return scope === null || allows(scopes, 'read') || allows(scopes, scope);
  }

  push(event: AnyEvent): void {
    if (this.#open) this.#out.event(event);
  }

  ready(): Promise<void> | undefined {
    return this.#open ? this.#out.ready() : undefined;
  }

  close(code: number, reason: string): void {
    if (!this.#open) return;
    this.#link.close(code, reason);
    this.#ended();
  }

  get principal(): string {
    return this.#admission.principal;
  }

  /** The client's public description, for other clients. */
  get present(): PresentClient {
    const app = this.principal.startsWith('app:');
    return { id: this.id, name: this.#name, version: this.#version, app, activeAt: this.#activeAt };
  }

  /** Whether the link is a socket, not a page's port. */
  get socket(): boolean {
    return this.#admission.socket;
  }

  /**
   * Releases the client once no call is pending, at once or after the last response: moves it to the next host if the bridge can, else
   * closes the connection. Until then it is served as before. Undefined cancels that.
   */
  closeWhenIdle(leaving: { code: number; reason: string } | undefined): void {
    this.#leaving = leaving;
    this.#leaveIfIdle();
  }

  #leaveIfIdle(): void {
    // Once the bridge holds back what the client sends, this cannot be undone.
    if ((!this.#leaving && !this.#left) || this.#requests?.idle === false || !this.#open) return;
    const { movable } = this.#admission;
    if (this.#leaving && (!movable || !this.#requests)) return this.close(this.#leaving.code, this.#leaving.reason);
    if (!movable) return;
    if (!this.#left) return movable.leave();
    this.#out.flush();
    const follows = [...this.#followed].slice(-MAX_FOLLOWS);
    movable.move(JSON.stringify({ connId: this.id, seq: this.#out.seq, follows } satisfies MovedClient));
    this.#ended();
  }

  #read(text: string): void {
    if (!this.#open) return;
    if (text.length > (this.#requests ? LIMITS.maxPayload : LIMITS.maxPayloadBeforeConnect))
      return this.close(CLOSE.tooBig, 'frame too large');
    if (this.#gate.shut)
      return this.#gate.hold(text) ? undefined : this.close(CLOSE.tooBig, 'too much data before the response to connect');
    const read = readClientFrame(text);
    if ('close' in read) return this.close(CLOSE.policy, read.close);
    if ('error' in read) return this.#refuse(read.id, read.error);
    if (this.#requests) void this.#call(this.#requests, read.frame);
    else void this.#connect(read.frame);
  }

  #refuse(id: string, error: RpcError): void {
    if (this.#requests) return this.#requests.refuse(id, error);
    this.#respond({ type: 'res', id, ok: false, error: error.toShape() });
  }

  async #connect({ id, method, params }: RequestFrame): Promise<void> {
    const refuse = (error: RpcError, code: number): void => {
      this.#deps.log.write('warn', 'connections', `Refused a connection: ${error.message}`, { principal: this.#admission.principal });
      this.#respond({ type: 'res', id, ok: false, error: error.toShape() });
      this.close(code, error.message);
    };
    if (method !== 'connect') return refuse(new RpcError('AUTH_REQUIRED', 'The first request must be "connect".'), CLOSE.policy);
    let given;
    try {
      given = parseParams(connection.connect.params, params);
    } catch (error) {
      return refuse(this.#deps.fault(error), CLOSE.policy);
    }
    if (given.maxProtocol < MIN_PROTOCOL || given.minProtocol > PROTOCOL || given.minProtocol > given.maxProtocol) {
      const details = { expectedProtocol: PROTOCOL };
      return refuse(
        new RpcError('INVALID_PARAMS', `Unsupported protocol version. This gateway supports versions ${MIN_PROTOCOL} to ${PROTOCOL}.`, {
          details,
        }),
        CLOSE.protocolError,
      );
    }
    this.#cancelTimeout();
    const { proof, moved, pairingCode = '' } = this.#admission;
    if (this.principal === PAIRING) {
      this.#cancelTimeout = this.#deps.clock.after(PAIRING_MS, () => this.close(CLOSE.normal, 'pairing timed out'));
      // The previous host has already checked the code of a client that was moved here.
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
    const protocol = Math.min(given.maxProtocol, PROTOCOL);
    this.#requests = this.#requestsOf(protocol);
    this.all = given.events === 'all' && this.principal !== PAIRING;
    this.#name = given.clientName ?? given.client?.displayName ?? given.client?.id;
    this.#version = given.client?.version;
    this.#leave = this.#deps.joined();
    if (moved !== undefined) return;
    this.#respond({
      type: 'res',
      id,
      ok: true,
      payload: {
        protocol,
        server: { name: 'perch', version: this.#deps.version, connId: this.id },
        features: { methods: this.principal === PAIRING ? PAIRING_METHODS : Object.keys(POLICIES), events: EVENT_NAMES },
        policy: { maxPayload: LIMITS.maxPayload, maxBufferedBytes: LIMITS.maxBufferedBytes, tickIntervalMs: LIMITS.tickIntervalMs },
        snapshot: { presence: this.#deps.presence(), health: this.#deps.health() },
        ...(proof === undefined ? {} : { auth: { proof } }),
      },
    });
    for (const text of this.#gate.open()) this.#read(text);
  }

  async #call(requests: PendingRequests, frame: RequestFrame): Promise<void> {
    this.#activeAt = this.#deps.clock.now();
    await requests.answer(frame);
    this.#leaveIfIdle();
  }

  #requestsOf(protocol: number): PendingRequests {
    const { principal, scopes } = this.#admission;
    const follow = (key: string): void => void this.#followed.add(key);
    const unfollow = (key: string): void => void this.#followed.delete(key);
    return new PendingRequests({
      ...this.#deps,
      caller: {
        ...{ connId: this.id, principal, scopes, follow, unfollow, signal: this.#gone.signal },
        tell: (event) => this.push(event),
        ready: () => this.ready(),
      },
      protocol,
      limits: this.#limits(),
      respond: (frame) => {
        this.#respond(frame);
        // The code is wrong or has expired: each guess costs a connection, which the bridge counts.
        if (principal === PAIRING && !frame.ok && frame.error.code === 'NOT_FOUND') this.close(CLOSE.policy, frame.error.message);
      },
    });
  }

  #limits(): ConnectionLimits | undefined {
    const { clock, log, rateLimit } = this.#deps;
    const { principal, socket } = this.#admission;
    const limit = socket ? rateLimit() : null;
    const onlimited = (method: string): void =>
      log.write('warn', 'connections', 'A connection exceeded the rate limit', { connId: this.id, principal, method });
    return limit ? new ConnectionLimits({ clock, limit, onlimited }) : undefined;
  }

  #respond(frame: ResponseFrame): void {
    if (this.#open) this.#out.respond(frame);
  }

  #ended(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#cancelTimeout();
    this.#leave?.();
    this.#gone.abort(new RpcError('ABORTED', 'The connection was closed.'));
    this.#out.clear();
    this.#deps.closed();
  }
}
