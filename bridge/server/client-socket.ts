import { isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import { type Opening, PAIRING_CODE_HEADER } from '#shared/link/hello.ts';
import type { Stream } from '#shared/link/stream.ts';
import { MIN_HEAD_HEADER, HANDOFF_STATE_HEADER, HANDOFF_HEADER } from '#shared/ports/journal-streams.ts';
import { PAIRING_PRINCIPAL } from '#shared/rpc/contract.ts';
import { allowsScope, type Scope, SCOPES, splitScopes } from '#shared/rpc/scopes.ts';
import type { ErrorShape } from '#shared/rpc/rpc-error.ts';
import { CLOSE_CODES, type EventFrame, PROTOCOL_LIMITS, type RequestFrame, type ResponseFrame } from '#shared/rpc/frames.ts';
import { FIRST_FRAME_TOO_LONG, readFirstFrame } from './first-frame.ts';
import { HandoffReader } from './handoff-reader.ts';
import { closeSocket } from './socket-link.ts';
import { SocketWriter } from './socket-writer.ts';
import type { Timing } from './timing.ts';
import type { Vault } from './serve-vault.ts';
import type { VaultCandidates, VaultRegistry } from './vault-registry.ts';

export interface ClientDeps {
  vaults: Pick<VaultRegistry, 'admit'>;
  /** Called when a client has sent `connect`. */
  onconnect(client: ClientSocket): void;
  /** Counts a client as connected to its vault; false if there is no room. */
  admit(client: ClientSocket, vault: Vault): boolean;
  timing: Timing;
  /** False asks the host not to limit the rate of this bridge's sockets (benchmarks). */
  rateLimits: boolean;
}

/** Properties of a client's upgrade request. */
export interface ClientCaller {
  origin: string | undefined;
  bearer: string | undefined;
  userAgent: string | undefined;
  /** Remote IP address. */
  address: string | undefined;
  /** Vaults that the connection may be for. */
  candidates: VaultCandidates;
}

/** The client's vault, and the data sent to each host of that vault. */
interface ClientAdmission {
  vault: Vault;
  opening: Partial<Opening> & { kind: string };
  /** The client's first frame, without its credential. */
  connect: string;
}

/** Number of bytes waiting for the host above which the client's socket is paused. */
export const MAX_UNSENT_BYTES = 1024 * 1024;
/** Allowance for a WebSocket message's header and some control frames, in addition to the 64 KiB before `connect`. */
const HEADROOM_BYTES = 1024;

/** Close code when a client's host is gone or no longer active; another one is or may become active. */
export const HOST_RESTARTING = { code: 1012, reason: 'gateway restarting' };

/** Close code when the vault is full; a place may be free at the next attempt. */
const VAULT_FULL = { code: CLOSE_CODES.noGateway, reason: 'the vault has no free connections' };

export const ACCESS_REVOKED = { code: CLOSE_CODES.policy, reason: 'access was revoked' };

/** Returns the requested scopes that were granted. Ignores other programs' scope names. */
function narrowScopes(granted: readonly Scope[], requested: unknown): readonly Scope[] {
  const requestedScopes = Array.isArray(requested) ? SCOPES.filter((scope) => requested.includes(scope)) : [];
  return requestedScopes.length > 0 && requestedScopes.every((scope) => allowsScope(granted, scope)) ? requestedScopes : granted;
}

/**
 * A client of protocol 3: challenge, `connect` with its credential, then bytes both ways without inspection.
 */
export class ClientSocket {
  readonly #socket: WebSocket;
  readonly #transport: Duplex;
  readonly #caller: ClientCaller;
  readonly #deps: ClientDeps;
  readonly #nonce = randomBytes(32).toString('base64url');
  readonly #closeSignal = new AbortController();
  /** Messages received during authentication or while waiting for a host. */
  #queuedMessages: Buffer[] | undefined;
  #stream: Stream | undefined;
  #admitted: ClientAdmission | undefined;
  /** True between two hosts: the client's socket is not read. */
  #heldMessages = false;
  #bytesBeforeConnect = 0;
  #timer: NodeJS.Timeout;
  readonly #writer: SocketWriter;
  #leaving: { code: number; reason: string } | undefined;
  #release: () => void = () => {};

  constructor(socket: WebSocket, transport: Duplex, caller: ClientCaller, deps: ClientDeps) {
    this.#socket = socket;
    this.#writer = new SocketWriter(socket);
    this.#transport = transport;
    this.#caller = caller;
    this.#deps = deps;
    this.#timer = setTimeout(() => this.close(CLOSE_CODES.policy, 'no connect within 15 s'), deps.timing.connectMs);
    socket.on('message', (data, isBinary) => this.#read(data, isBinary));
    socket.on('close', (code, reason) => this.#closed(code, reason.toString()));
    transport.on('data', this.#count);
    const challenge: EventFrame = { type: 'event', event: 'connect.challenge', seq: 1, payload: { nonce: this.#nonce, ts: Date.now() } };
    socket.send(JSON.stringify(challenge));
  }

  /** Vault of the client, once admitted. */
  get vault(): Vault | undefined {
    return this.#admitted?.vault;
  }

  /** Remote IP address. */
  get address(): string | undefined {
    return this.#caller.address;
  }

  /** Bytes not yet taken by the client's socket. */
  get unsent(): number {
    return this.#writer.unsent;
  }

  close(code: number, reason: string): void {
    clearTimeout(this.#timer);
    this.#transport.off('data', this.#count);
    closeSocket(this.#socket, code, reason);
  }

  /** Closes without waiting for the client's close frame. */
  drop(code: number, reason: string): void {
    this.close(code, reason);
    this.#transport.end(() => this.#transport.destroy());
  }

  /** Closes a client whose socket has taken nothing for too long. `now` is monotonic, in milliseconds. */
  checkStalled(now: number): void {
    if (!this.#writer.isStalled(now, this.#deps.timing.stallMs)) return;
    this.#stream?.reset(CLOSE_CODES.policy, 'slow consumer');
    this.close(CLOSE_CODES.policy, 'slow consumer');
  }

  /**
   * Counts raw bytes before `connect`: the WebSocket server's limit is that of connected clients, and unauthenticated ones must not use 25
   * MiB.
   */
  #count = (chunk: Buffer): void => {
    this.#bytesBeforeConnect += chunk.byteLength;
    if (this.#bytesBeforeConnect <= PROTOCOL_LIMITS.maxPayloadBeforeConnect + HEADROOM_BYTES) return;
    this.close(FIRST_FRAME_TOO_LONG.code, FIRST_FRAME_TOO_LONG.reason);
    this.#transport.pause();
  };

  /**
   * Some clients send JSON in binary frames, which are text from here on. The host's own binary messages on a stream are for the hand-over.
   */
  #read(data: RawData, isBinary: boolean): void {
    if (!Buffer.isBuffer(data) || (isBinary && !isUtf8(data)))
      return this.close(CLOSE_CODES.notUtf8, 'binary frames must be JSON in UTF-8');
    this.#message(data);
  }

  #message(data: Buffer): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    if (this.#queuedMessages) return void this.#queuedMessages.push(data);
    if (this.#stream) return this.#forward(this.#stream, data);
    const first = readFirstFrame(data);
    if (first.connect) {
      this.#connect(first.connect).catch(() => this.close(CLOSE_CODES.internal, 'internal bridge error'));
      return;
    }
    if (first.error) this.#fail(first.error.id, first.error.shape);
    if (first.close) this.close(first.close.code, first.close.reason);
  }

  async #connect(frame: RequestFrame): Promise<void> {
    clearTimeout(this.#timer);
    this.#transport.off('data', this.#count);
    this.#deps.onconnect(this);
    this.#queuedMessages = [];
    this.#socket.pause();
    const { auth: granted, ...params } = frame.params;
    const { origin } = this.#caller;
    const { vault, verdict } = await this.#deps.vaults.admit(this.#caller, granted, this.#nonce);
    if (!vault) {
      const { code, message, retryAfterMs } = verdict;
      this.#fail(frame.id, { code, message, ...(retryAfterMs === undefined ? {} : { retryable: true, retryAfterMs }) });
      return this.close(CLOSE_CODES.policy, message);
    }
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    if (!this.#deps.admit(this, vault)) return this.close(VAULT_FULL.code, VAULT_FULL.reason);
    const headers = {
      ...(this.#caller.userAgent === undefined ? {} : { 'user-agent': this.#caller.userAgent }),
      ...(verdict.proof === undefined ? {} : { 'x-perch-proof': verdict.proof }),
      ...(verdict.pairingCode === undefined ? {} : { [PAIRING_CODE_HEADER]: verdict.pairingCode }),
      ...(this.#deps.rateLimits ? {} : { 'x-perch-rate-limits': 'off' }),
      [HANDOFF_HEADER]: '1',
    };
    const scopes = verdict.hold ? narrowScopes(verdict.scopes, params.scopes) : verdict.scopes;
    const opening = { kind: 'rpc', principal: verdict.principal, ...splitScopes(scopes), origin: origin ?? null, headers };
    if (verdict.hold) this.#release = verdict.hold(() => this.close(ACCESS_REVOKED.code, ACCESS_REVOKED.reason));
    if (this.#socket.readyState !== this.#socket.OPEN) return this.#release();
    this.#admitted = { vault, opening, connect: JSON.stringify({ ...frame, params }) };
    await this.#open(this.#admitted);
  }

  /** Opens a stream to the active host. `moved`: state from the previous host, which keeps the change invisible to the client. */
  async #open({ vault, opening, connect }: ClientAdmission, moved?: string): Promise<void> {
    const { hosts, journal } = vault;
    const mux = await hosts.wait(this.#deps.timing.hostWaitMs, this.#closeSignal.signal);
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    if (!mux) return this.close(CLOSE_CODES.noGateway, 'no gateway');
    const headers = {
      ...opening.headers,
      // Position in the journal that the host must reach first, so that the client sees all earlier acknowledged changes.
      [MIN_HEAD_HEADER]: String(journal.head),
      ...(moved === undefined ? {} : { [HANDOFF_STATE_HEADER]: moved }),
    };
    const stream = mux.open({ ...opening, headers });
    const fromHost = new HandoffReader(() => this.#holdMessages(stream));
    this.#stream = stream;
    stream.send(connect);
    stream.receive({
      data: (chunk, fin, text) => {
        if (text) return this.#writer.send(stream, chunk, fin);
        stream.release(chunk.byteLength);
        fromHost.read(chunk, fin);
      },
      end: (code, reason) => {
        if (code === CLOSE_CODES.handingOver && fromHost.state !== undefined) this.#moveToHost(stream, fromHost.state);
        else this.#onStreamEnd(code, reason);
      },
      reset: (code, reason) =>
        hosts.has(mux) ? this.#onStreamEnd(code, reason) : this.close(HOST_RESTARTING.code, HOST_RESTARTING.reason),
      drain: () => (this.#leaving ? this.#resetWhenDrained() : this.#heldMessages ? undefined : this.#socket.resume()),
    });
    const early = this.#queuedMessages ?? [];
    this.#queuedMessages = undefined;
    this.#heldMessages = false;
    for (const data of early) this.#message(data);
    if (stream.buffered <= MAX_UNSENT_BYTES) this.#socket.resume();
  }

  /** The host wants to hand the client over. Anything that the client sends from now on is for the next host. */
  #holdMessages(stream: Stream): void {
    this.#heldMessages = true;
    this.#queuedMessages = [];
    this.#socket.pause();
    stream.end(CLOSE_CODES.handingOver);
  }

  #moveToHost(from: Stream, state: string): void {
    if (this.#stream !== from || !this.#admitted) return;
    this.#open(this.#admitted, state).catch(() => this.close(CLOSE_CODES.internal, 'internal bridge error'));
  }

  /**
   * The host ends the stream. If it is no longer active and can't hand the client over, it uses the hand-over code, and the client
   * reconnects to the next host.
   */
  #onStreamEnd(code: number, reason: string): void {
    const end = code === CLOSE_CODES.handingOver ? HOST_RESTARTING : { code, reason };
    if (code === CLOSE_CODES.policy && this.#admitted?.opening.principal === PAIRING_PRINCIPAL)
      this.#admitted.vault.auth.deny('pairing', this.#caller.origin, reason);
    this.close(end.code, end.reason);
  }

  #forward(stream: Stream, data: Buffer): void {
    stream.sendText(data);
    if (stream.buffered > MAX_UNSENT_BYTES) this.#socket.pause();
  }

  #fail(id: string, error: ErrorShape): void {
    const response: ResponseFrame = { type: 'res', id, ok: false, error };
    this.#socket.send(JSON.stringify(response));
  }

  #closed(code: number, reason: string): void {
    clearTimeout(this.#timer);
    this.#closeSignal.abort();
    this.#release();
    // 1005 and 1006 are never sent on the wire; for the host the client just left.
    this.#leaving = { code: code === 1005 || code === 1006 ? CLOSE_CODES.goingAway : code, reason };
    this.#resetWhenDrained();
  }

  /** Delivers what the client has sent to the host, then resets the stream: the host's data is no longer needed. */
  #resetWhenDrained(): void {
    if (this.#leaving && this.#stream?.buffered === 0) this.#stream.reset(this.#leaving.code, this.#leaving.reason);
  }
}
