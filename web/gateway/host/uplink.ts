import { binarySocketLink } from '#shared/client/websocket.ts';
import { type Hello, MUX_VERSION, type Opening, PORTS_VERSION, SCHEMA_VERSION } from '#shared/link/hello.ts';
import type { Link } from '#shared/link/link.ts';
import { Mux } from '#shared/link/mux.ts';
import { prove, proves, uplinkAccepted, uplinkChallenge } from '#shared/link/proof.ts';
import type { Stream } from '#shared/link/stream.ts';
import { JOURNAL_PORT } from '#shared/ports/journal.ts';
import type { HostCredential } from '#shared/ports/host.ts';

const FIRST_RETRY_MS = 250;
/** A bridge that was started again is served within 3 s (quality.md, "Reliability"). */
const LAST_RETRY_MS = 2_000;
const HANDSHAKE_MS = 10_000;

export interface UplinkOptions {
  /** `ws://…/uplink`. */
  url: string;
  build: string;
  onstream(stream: Stream, opening: Opening): void;
  /** The line stands, and both sides have said hello. */
  onattached(mux: Mux): void;
  onstate(state: 'off' | 'connecting' | 'attached', problem: string | null): void;
}

/** The host's line to the bridge: dials, proves itself, and dials again with back-off for as long as it is wanted. */
export class Uplink {
  readonly #options: UplinkOptions;
  #credential: HostCredential | null = null;
  #socket: WebSocket | null = null;
  #mux: Mux | null = null;
  #peer: Hello | null = null;
  #retryMs = FIRST_RETRY_MS;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #watchers = new Set<() => void>();

  constructor(options: UplinkOptions) {
    this.#options = options;
  }

  /** Calls back when the line stands, and when it is gone; the result stops it. */
  watch(listener: () => void): () => void {
    this.#watchers.add(listener);
    return () => this.#watchers.delete(listener);
  }

  /** The multiplexer while the bridge is there and lends `port`. */
  lending(port: string): Mux | null {
    return this.#peer?.capabilities.includes(port) ? this.#mux : null;
  }

  /** Something is under way on the line: a client, a request, or a provider's answer. */
  get busy(): boolean {
    // The journal's own stream is always there.
    return this.#mux !== null && this.#mux.streams > (this.lending(JOURNAL_PORT) ? 1 : 0);
  }

  attach(credential: HostCredential): void {
    const same = this.#credential?.id === credential.id;
    this.#credential = credential;
    // A line that stands serves whoever of this browser asked for it; the next one is dialled with the newer credential.
    if (this.#mux || (same && (this.#socket || this.#timer))) return;
    this.#hangUp('another credential');
    void this.#dial();
  }

  /** Hangs up for good; `HANDING_OVER` tells the bridge that another host is about to dial. */
  detach(code = 1000, reason = 'detached'): void {
    this.#credential = null;
    this.#hangUp(reason, code);
    this.#tell('off', null);
  }

  #hangUp(reason: string, code = 1000): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const socket = this.#socket;
    this.#socket = null;
    this.#mux?.close(code, reason);
    this.#mux = null;
    this.#peer = null;
    socket?.close(code, reason);
  }

  #tell(state: 'off' | 'connecting' | 'attached', problem: string | null): void {
    this.#options.onstate(state, problem);
    for (const watcher of this.#watchers) watcher();
  }

  async #dial(): Promise<void> {
    const credential = this.#credential;
    if (!credential) return;
    this.#tell('connecting', null);
    const socket = new WebSocket(this.#options.url);
    this.#socket = socket;
    let problem = 'The bridge cannot be reached';
    try {
      const mux = new Mux(await handshake(socket, credential), {
        side: 'dialer',
        hello: {
          muxVersion: MUX_VERSION,
          portsVersion: PORTS_VERSION,
          schemaVersion: SCHEMA_VERSION,
          build: this.#options.build,
          capabilities: [JOURNAL_PORT],
        },
        onstream: this.#options.onstream,
        schedule: soon,
      });
      this.#peer = await mux.ready;
      if (this.#socket !== socket) return mux.close();
      this.#mux = mux;
      this.#retryMs = FIRST_RETRY_MS;
      this.#options.onattached(mux);
      this.#tell('attached', null);
      const { reason } = await mux.closed;
      problem = reason || 'The bridge went away';
    } catch (error) {
      if (error instanceof Error && error.message) problem = error.message;
      socket.close();
    }
    if (this.#socket !== socket) return;
    this.#socket = null;
    this.#mux = null;
    this.#peer = null;
    this.#tell('connecting', problem);
    // A little chance, so that many hosts do not come back in one instant.
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        void this.#dial();
      },
      this.#retryMs * (0.75 + Math.random() / 2),
    );
    this.#retryMs = Math.min(LAST_RETRY_MS, this.#retryMs * 2);
  }
}

/** Both sides prove that they hold the credential; throws when the bridge does not. The link has what came meanwhile. */
async function handshake(socket: WebSocket, { id, key }: HostCredential): Promise<Link<Uint8Array>> {
  socket.binaryType = 'arraybuffer';
  const inbox = texts(socket);
  const timer = setTimeout(() => socket.close(), HANDSHAKE_MS);
  try {
    const { nonce: serverNonce } = uplinkChallenge.parse(JSON.parse(await inbox.next()));
    const nonce = crypto.randomUUID();
    socket.send(JSON.stringify({ credentialId: id, nonce, proof: await prove(key, 'client', 'uplink', serverNonce, nonce) }));
    const { proof } = uplinkAccepted.parse(JSON.parse(await inbox.next()));
    if (!(await proves(key, proof, 'server', 'uplink', serverNonce, nonce))) throw new Error('The program on this port is not our bridge');
    const link = binarySocketLink(socket);
    return {
      ...link,
      get buffered() {
        return link.buffered;
      },
      receive(events) {
        const message = (bytes: Uint8Array): void => {
          answering = true;
          events.message(bytes);
        };
        link.receive({ ...events, message });
        for (const bytes of inbox.early) message(bytes);
      },
    };
  } finally {
    clearTimeout(timer);
  }
}

/** The socket's next texts, one at a time; rejects when it closes. `early`: the multiplexer's first messages, which may come before the last proof is checked. */
function texts(socket: WebSocket): { next(): Promise<string>; early: Uint8Array[] } {
  const arrived: string[] = [];
  const early: Uint8Array[] = [];
  let waiting: { resolve(text: string): void; reject(error: Error): void } | null = null;
  let closed: Error | null = null;
  socket.onmessage = ({ data }) => {
    if (data instanceof ArrayBuffer) return void early.push(new Uint8Array(data));
    if (typeof data !== 'string') return socket.close();
    if (waiting) waiting.resolve(data);
    else arrived.push(data);
    waiting = null;
  };
  socket.onclose = ({ reason }) => {
    closed = new Error(reason || 'The bridge cannot be reached');
    waiting?.reject(closed);
  };
  return {
    early,
    next() {
      const text = arrived.shift();
      if (text !== undefined) return Promise.resolve(text);
      if (closed) return Promise.reject(closed);
      return new Promise((resolve, reject) => (waiting = { resolve, reject }));
    },
  };
}

/** Something came, and nothing has been sent since. */
let answering = false;
const channel = new MessageChannel();
let flushes: (() => void)[] = [];
channel.port1.onmessage = () => {
  const due = flushes;
  flushes = [];
  for (const flush of due) flush();
};

/**
 * The first thing after a message came goes at the end of its turn, together with all other answers of that turn: requests that came together
 * are answered together. What follows (the deltas of a chunk, one await after the other), and bodies, go in the next task, in one message.
 */
function soon(flush: () => void, bulk: boolean): void {
  if (answering && !bulk) {
    answering = false;
    queueMicrotask(flush);
  } else if (flushes.push(flush) === 1) channel.port2.postMessage(null);
}
