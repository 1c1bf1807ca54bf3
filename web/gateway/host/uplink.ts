import type { Hello, Opening } from '#shared/link/hello.ts';
import type { Mux } from '#shared/link/mux.ts';
import type { Stream } from '#shared/link/stream.ts';
import { JOURNAL_KIND } from '#shared/ports/journal-streams.ts';
import type { HostCredential } from '#shared/ports/host-api.ts';
import { addJitter, Backoff } from '#shared/async/backoff.ts';
import { lazy, createNotLoadedError } from '#shared/async/lazy.ts';
import type { JournalConnection } from '../sync/journal-connection.ts';

const MIN_RETRY_MS = 250;
/** A restarted bridge must be reached within 3 s. */
const MAX_RETRY_MS = 2_000;

/** Loaded on demand: not needed without a bridge, nor before the bridge has authenticated. */
const loadUplinkConnection = lazy(() => import('./uplink-connection.ts'));

export interface UplinkOptions {
  /** `ws://…/uplink`. */
  url: string;
  build: string;
  onstream(stream: Stream, opening: Opening): void;
  /** Called when the connection is open, both sides have said hello, and the bridge has a journal. */
  onjournal(journal: JournalConnection): void;
  onstate(state: 'off' | 'connecting' | 'attached', problem: string | null): void;
}

/** The host's connection to the bridge: connects, authenticates, and reconnects with back-off for as long as it is needed. */
export class Uplink {
  readonly #options: UplinkOptions;
  #credential: HostCredential | null = null;
  #socket: WebSocket | null = null;
  #mux: Mux | null = null;
  #peer: Hello | null = null;
  readonly #backoff = new Backoff(MIN_RETRY_MS, MAX_RETRY_MS);
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  readonly #watchers = new Set<() => void>();

  constructor(options: UplinkOptions) {
    this.#options = options;
  }

  /** Calls back when the connection opens or closes; returns a function that stops watching. */
  watch(listener: () => void): () => void {
    this.#watchers.add(listener);
    return () => this.#watchers.delete(listener);
  }

  /** The multiplexer, if the bridge is attached and provides `port`. */
  getMux(port: string): Mux | null {
    return this.#peer?.capabilities.includes(port) ? this.#mux : null;
  }

  /** Whether the bridge is expected but not connected. */
  get isAway(): boolean {
    return this.#credential !== null && this.#mux === null;
  }

  /** Whether the connection has active streams: a client, a request, or a provider's response. */
  get isBusy(): boolean {
    // The journal's own stream is always open.
    return this.#mux !== null && this.#mux.streams > (this.getMux(JOURNAL_KIND) ? 1 : 0);
  }

  attach(credential: HostCredential): void {
    const isSame = this.#credential?.id === credential.id;
    this.#credential = credential;
    // An open connection serves every page of this browser; the next one uses the newer credential.
    if (this.#mux || (isSame && (this.#socket || this.#retryTimer))) return;
    this.#disconnect('another credential');
    void this.#connect();
  }

  /** Disconnects without reconnecting; `HANDING_OVER` tells the bridge that another host is about to connect. */
  detach(code = 1000, reason = 'detached'): void {
    this.#credential = null;
    this.#disconnect(reason, code);
    this.#notify('off', null);
  }

  #disconnect(reason: string, code = 1000): void {
    clearTimeout(this.#retryTimer);
    this.#retryTimer = undefined;
    const socket = this.#socket;
    this.#socket = null;
    this.#mux?.close(code, reason);
    this.#mux = null;
    this.#peer = null;
    socket?.close(code, reason);
  }

  #notify(state: 'off' | 'connecting' | 'attached', problem: string | null): void {
    this.#options.onstate(state, problem);
    for (const watcher of this.#watchers) watcher();
  }

  async #connect(): Promise<void> {
    const credential = this.#credential;
    if (!credential) return;
    this.#notify('connecting', null);
    const socket = new WebSocket(this.#options.url);
    this.#socket = socket;
    let problem = 'Couldn’t reach the bridge';
    try {
      const { build, onstream } = this.#options;
      const inbox = createInbox(socket);
      const { openJournalConnection, openUplinkMux } = await loadUplinkConnection().catch((error: unknown) =>
        Promise.reject(createNotLoadedError(error)),
      );
      const mux = await openUplinkMux(socket, inbox, credential, { build, onstream });
      this.#peer = await mux.ready;
      if (this.#socket !== socket) return mux.close();
      this.#mux = mux;
      this.#backoff.reset();
      if (this.getMux(JOURNAL_KIND)) this.#options.onjournal(openJournalConnection(mux));
      this.#notify('attached', null);
      const { reason } = await mux.closed;
      problem = reason || 'The connection to the bridge was lost';
    } catch (error) {
      if (error instanceof Error && error.message) problem = error.message;
      socket.close();
    }
    if (this.#socket !== socket) return;
    this.#socket = null;
    this.#mux = null;
    this.#peer = null;
    this.#notify('connecting', problem);
    this.#retryTimer = setTimeout(() => {
      this.#retryTimer = undefined;
      void this.#connect();
    }, addJitter(this.#backoff.next()));
  }
}

/** Messages of the socket during mutual authentication. */
export interface HandshakeInbox {
  /** The next text message; rejects when the socket closes. */
  next(): Promise<string>;
  /** The multiplexer's first messages, which may arrive before the last proof is checked. */
  earlyMessages: Uint8Array[];
}

function createInbox(socket: WebSocket): HandshakeInbox {
  socket.binaryType = 'arraybuffer';
  const received: string[] = [];
  const early: Uint8Array[] = [];
  let pending: { resolve(text: string): void; reject(error: Error): void } | null = null;
  let closed: Error | null = null;
  socket.onmessage = ({ data }) => {
    if (data instanceof ArrayBuffer) return void early.push(new Uint8Array(data));
    if (typeof data !== 'string') return socket.close();
    if (pending) pending.resolve(data);
    else received.push(data);
    pending = null;
  };
  socket.onclose = ({ reason }) => {
    closed = new Error(reason || 'Couldn’t reach the bridge');
    pending?.reject(closed);
  };
  return {
    earlyMessages: early,
    next() {
      const text = received.shift();
      if (text !== undefined) return Promise.resolve(text);
      if (closed) return Promise.reject(closed);
      return new Promise((resolve, reject) => (pending = { resolve, reject }));
    },
  };
}
