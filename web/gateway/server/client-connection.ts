import type { Link } from '#shared/link/link.ts';
import { allowsScope, PAIRING_PRINCIPAL } from '#shared/rpc/contract.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { AnyEvent } from '#shared/rpc/events.ts';
import {
  CLOSE_CODES,
  PROTOCOL_LIMITS,
  MIN_PROTOCOL_VERSION,
  PROTOCOL_VERSION,
  type RequestFrame,
  type ResponseFrame,
} from '#shared/rpc/frames.ts';
import { EVENT_SCOPES } from '#shared/rpc/event-scopes.ts';
import { connectionContracts } from '#shared/rpc/methods/connection-contracts.ts';
import type { PresenceEntry } from '#shared/rpc/presence-entry.ts';
import { METHOD_ACCESS } from '#shared/rpc/method-access.ts';
import type { Admission } from './admission.ts';
import type { Clock } from '#shared/async/clock.ts';
import { ConnectionLimits } from './connection-limits.ts';
import { parseClientFrame } from './client-frame.ts';
import { parseParams } from '#shared/rpc/parse-params.ts';
import { toDrawingKey } from '../drawings/drawing-key.ts';
import type { Subscriber } from '../system/event-bus.ts';
import type { LogWriter } from '../system/log/log.ts';
import { type ConnectionHandoff, parseConnectionHandoff } from './connection-handoff.ts';
import { PAIRING_METHODS, PAIRING_TIMEOUT_MS, PairingGate } from './pairing-gate.ts';
import { PendingRequests, type PendingRequestsDeps } from './pending-requests.ts';
import { SendBuffer } from './send-buffer.ts';
import type { ConnectedClient } from '../system/status/presence.ts';

export interface ClientConnectionDeps extends PendingRequestsDeps {
  clock: Clock;
  version: string;
  health(): { status: 'ok' | 'draining' | 'degraded'; uptime: number; connections: number };
  presence(): PresenceEntry[];
  log: LogWriter;
  rateLimit(): { perMinute: number; burst: number } | null;
  /** Whether a device can be paired with a code; a wrong code counts as a failed attempt. */
  canPair(pairingCode: string): Promise<boolean>;
  /** Called when the connection is ready for events; returns a function to call at its end. */
  onJoined(): () => void;
  onClosed(): void;
}

/**
 * Maximum number of sessions and drawings that a client keeps following when it moves to another host: the opening frame is limited to 64
 * KB.
 */
const MAX_FOLLOWS = 100;

/** Time after which a client held back by the bridge is released although a call is pending. */
const HANDOVER_TIMEOUT_MS = 1_000;

/** One client, from its first frame until it disconnects or moves to another host. */
export class ClientConnection implements Subscriber {
  readonly id: string;
  all = false;

  readonly #link: Link<string>;
  readonly #admission: Admission;
  readonly #deps: ClientConnectionDeps;
  readonly #followed = new Set<string>();
  readonly #closed = new AbortController();
  readonly #sendBuffer: SendBuffer;
  /** Pending calls; undefined until the client has connected. */
  #requests: PendingRequests | undefined;
  #unsubscribe: (() => void) | undefined;
  #cancelTimeout: () => void;
  #open = true;
  /** How to close the connection once no call is pending. */
  #pendingClose: { code: number; reason: string } | undefined;
  /** Whether the state from the previous host cannot be read. */
  readonly #isStateUnreadable: boolean;
  /** Whether everything that the client sent to this host has been processed. */
  #isDrained = false;
  #name: string | undefined;
  #version: string | undefined;
  #activeAt: number;
  readonly #pairingGate = new PairingGate();

  constructor(link: Link<string>, admission: Admission, deps: ClientConnectionDeps) {
    this.#link = link;
    this.#admission = admission;
    this.#deps = deps;
    const before = parseConnectionHandoff(admission.moved);
    this.#isStateUnreadable = admission.moved !== undefined && !before;
    this.id = before?.connId ?? crypto.randomUUID();
    this.#activeAt = deps.clock.now();
    const seq = before?.seq ?? (admission.challenged ? 1 : 0);
    this.#sendBuffer = new SendBuffer({ link, clock: deps.clock, seq, onOverflow: () => this.close(CLOSE_CODES.policy, 'slow consumer') });
    for (const key of before?.follows ?? []) this.#followed.add(key);
    this.#cancelTimeout = deps.clock.after(PROTOCOL_LIMITS.connectTimeoutMs, () =>
      this.close(CLOSE_CODES.policy, 'no connect within 15 s'),
    );
  }

  /** Starts reading. Frames that have already arrived are processed at once, and may close the connection within this call. */
  start(): void {
    // The client has to reconnect.
    if (this.#isStateUnreadable) return this.close(CLOSE_CODES.handingOver, 'cannot hand over the client');
    this.#link.receive({
      message: (text) => this.#handleFrame(text),
      drain: () => this.#sendBuffer.handleDrain(),
      close: () => this.#handleClose(),
      left: () => {
        this.#isDrained = true;
        this.#leaveIfIdle();
        // A call that came in the meantime may take minutes, and nothing else from the client is processed until it is answered.
        if (!this.#open) return;
        this.#cancelTimeout();
        this.#cancelTimeout = this.#deps.clock.after(HANDOVER_TIMEOUT_MS, () =>
          this.close(CLOSE_CODES.handingOver, 'handed over to another host'),
        );
      },
    });
    if (this.#admission.challenged) return;
    this.#sendBuffer.sendEvent({ event: 'connect.challenge', payload: { nonce: crypto.randomUUID(), ts: this.#deps.clock.now() } });
  }

  follows(sessionKey: string): boolean {
    return this.#followed.has(sessionKey);
  }

  hasOpen(drawingId: string): boolean {
    return this.#followed.has(toDrawingKey(drawingId));
  }

  canReceive({ event }: AnyEvent): boolean {
    const { scopes } = this.#admission;
    const scope = EVENT_SCOPES[event];
    return scope === null || allowsScope(scopes, 'read') || allowsScope(scopes, scope);
  }

  push(event: AnyEvent): void {
    if (this.#open) this.#sendBuffer.sendEvent(event);
  }

  ready(): Promise<void> | undefined {
    return this.#open ? this.#sendBuffer.ready() : undefined;
  }

  close(code: number, reason: string): void {
    if (!this.#open) return;
    this.#link.close(code, reason);
    this.#handleClose();
  }

  get principal(): string {
    return this.#admission.principal;
  }

  /** The client's public description, for other clients. */
  get description(): ConnectedClient {
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
    this.#pendingClose = leaving;
    this.#leaveIfIdle();
  }

  #leaveIfIdle(): void {
    // Once the bridge holds back what the client sends, this cannot be undone.
    if ((!this.#pendingClose && !this.#isDrained) || this.#requests?.isIdle === false || !this.#open) return;
    const { movable } = this.#admission;
    if (this.#pendingClose && (!movable || !this.#requests)) return this.close(this.#pendingClose.code, this.#pendingClose.reason);
    if (!movable) return;
    if (!this.#isDrained) return movable.leave();
    this.#sendBuffer.flush();
    const follows = [...this.#followed].slice(-MAX_FOLLOWS);
    movable.move(JSON.stringify({ connId: this.id, seq: this.#sendBuffer.seq, follows } satisfies ConnectionHandoff));
    this.#handleClose();
  }

  #handleFrame(text: string): void {
    if (!this.#open) return;
    if (text.length > (this.#requests ? PROTOCOL_LIMITS.maxPayload : PROTOCOL_LIMITS.maxPayloadBeforeConnect))
      return this.close(CLOSE_CODES.tooBig, 'frame too large');
    if (this.#pairingGate.isClosed)
      return this.#pairingGate.enqueue(text) ? undefined : this.close(CLOSE_CODES.tooBig, 'too much data before the response to connect');
    const parsed = parseClientFrame(text);
    if ('close' in parsed) return this.close(CLOSE_CODES.policy, parsed.close);
    if ('error' in parsed) return this.#rejectFrame(parsed.id, parsed.error);
    if (this.#requests) void this.#call(this.#requests, parsed.frame);
    else void this.#connect(parsed.frame);
  }

  #rejectFrame(id: string, error: RpcError): void {
    if (this.#requests) return this.#requests.reject(id, error);
    this.#respond({ type: 'res', id, ok: false, error: error.toShape() });
  }

  async #connect({ id, method, params }: RequestFrame): Promise<void> {
    const refuse = (error: RpcError, code: number): void => {
      this.#deps.log.write('warn', 'connections', `Refused a connection: ${error.message}`, { principal: this.#admission.principal });
      this.#respond({ type: 'res', id, ok: false, error: error.toShape() });
      this.close(code, error.message);
    };
    if (method !== 'connect') return refuse(new RpcError('AUTH_REQUIRED', 'The first request must be "connect".'), CLOSE_CODES.policy);
    let handshake;
    try {
      handshake = parseParams(connectionContracts.connect.params, params);
    } catch (error) {
      return refuse(this.#deps.fault(error), CLOSE_CODES.policy);
    }
    if (
      handshake.maxProtocol < MIN_PROTOCOL_VERSION ||
      handshake.minProtocol > PROTOCOL_VERSION ||
      handshake.minProtocol > handshake.maxProtocol
    ) {
      const details = { expectedProtocol: PROTOCOL_VERSION };
      return refuse(
        new RpcError(
          'INVALID_PARAMS',
          `Unsupported protocol version. This gateway supports versions ${MIN_PROTOCOL_VERSION} to ${PROTOCOL_VERSION}.`,
          {
            details,
          },
        ),
        CLOSE_CODES.protocolError,
      );
    }
    this.#cancelTimeout();
    const { proof, moved, pairingCode = '' } = this.#admission;
    if (this.principal === PAIRING_PRINCIPAL) {
      this.#cancelTimeout = this.#deps.clock.after(PAIRING_TIMEOUT_MS, () => this.close(CLOSE_CODES.normal, 'pairing timed out'));
      // The previous host has already checked the code of a client that was moved here.
      if (moved === undefined) {
        try {
          const refusal = await this.#pairingGate.verify(() => this.#deps.canPair(pairingCode));
          if (refusal) return refuse(refusal, CLOSE_CODES.policy);
        } catch (error) {
          return refuse(this.#deps.fault(error), CLOSE_CODES.internal);
        }
      }
    }
    if (!this.#open) return;
    const protocol = Math.min(handshake.maxProtocol, PROTOCOL_VERSION);
    this.#requests = this.#createRequests(protocol);
    this.all = handshake.events === 'all' && this.principal !== PAIRING_PRINCIPAL;
    this.#name = handshake.clientName ?? handshake.client?.displayName ?? handshake.client?.id;
    this.#version = handshake.client?.version;
    this.#unsubscribe = this.#deps.onJoined();
    if (moved !== undefined) return;
    this.#respond({
      type: 'res',
      id,
      ok: true,
      payload: {
        protocol,
        server: { name: 'perch', version: this.#deps.version, connId: this.id },
        features: {
          methods: this.principal === PAIRING_PRINCIPAL ? PAIRING_METHODS : Object.keys(METHOD_ACCESS),
          events: Object.keys(EVENT_SCOPES),
        },
        policy: {
          maxPayload: PROTOCOL_LIMITS.maxPayload,
          maxBufferedBytes: PROTOCOL_LIMITS.maxBufferedBytes,
          tickIntervalMs: PROTOCOL_LIMITS.tickIntervalMs,
        },
        snapshot: { presence: this.#deps.presence(), health: this.#deps.health() },
        ...(proof === undefined ? {} : { auth: { proof } }),
      },
    });
    for (const text of this.#pairingGate.open()) this.#handleFrame(text);
  }

  async #call(requests: PendingRequests, frame: RequestFrame): Promise<void> {
    this.#activeAt = this.#deps.clock.now();
    await requests.handle(frame);
    this.#leaveIfIdle();
  }

  #createRequests(protocol: number): PendingRequests {
    const { principal, scopes } = this.#admission;
    const follow = (key: string): void => void this.#followed.add(key);
    const unfollow = (key: string): void => void this.#followed.delete(key);
    return new PendingRequests({
      ...this.#deps,
      caller: {
        ...{ connId: this.id, principal, scopes, follow, unfollow, signal: this.#closed.signal },
        emit: (event) => this.push(event),
        ready: () => this.ready(),
      },
      protocol,
      limits: this.#createLimits(),
      respond: (frame) => {
        this.#respond(frame);
        // The code is wrong or has expired: each guess costs a connection, which the bridge counts.
        if (principal === PAIRING_PRINCIPAL && !frame.ok && frame.error.code === 'NOT_FOUND')
          this.close(CLOSE_CODES.policy, frame.error.message);
      },
    });
  }

  #createLimits(): ConnectionLimits | undefined {
    const { clock, log, rateLimit } = this.#deps;
    const { principal, socket } = this.#admission;
    const limit = socket ? rateLimit() : null;
    const onlimited = (method: string): void =>
      log.write('warn', 'connections', 'A connection exceeded the rate limit', { connId: this.id, principal, method });
    return limit ? new ConnectionLimits({ clock, limit, onlimited }) : undefined;
  }

  #respond(frame: ResponseFrame): void {
    if (this.#open) this.#sendBuffer.sendResponse(frame);
  }

  #handleClose(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#cancelTimeout();
    this.#unsubscribe?.();
    this.#closed.abort(new RpcError('ABORTED', 'The connection was closed.'));
    this.#sendBuffer.clear();
    this.#deps.onClosed();
  }
}
