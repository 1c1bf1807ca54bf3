import { randomBytes } from 'node:crypto';
import { WebSocket } from 'ws';
import { binarySocketLink } from '#shared/client/websocket.ts';
import { MUX_VERSION, type Opening, PORTS_VERSION, SCHEMA_VERSION } from '#shared/link/hello.ts';
import { serveHttp } from '#shared/link/stream-http.ts';
import { type Link, memoryPair, type MovableLink } from '#shared/link/link.ts';
import { Mux } from '#shared/link/mux.ts';
import { type Credential, importSecret, createProof, verifyProof, uplinkAccepted, uplinkChallenge } from '#shared/link/link-credentials.ts';
import type { Stream } from '#shared/link/stream.ts';
import { FRAME_TYPE } from '#shared/link/wire.ts';
import { textLink } from '#shared/link/text-link.ts';
import { HANDOFF_STATE_HEADER } from '#shared/ports/journal-streams.ts';
import { PROTOCOL_LIMITS, type RequestFrame } from '#shared/rpc/frames.ts';
import { createAsyncQueue } from './async-queue.ts';

/** Handles a client's requests; `connect` is already answered. */
export type RpcHandler = (link: Link<string>, frame: RequestFrame, text: string) => void;

export interface FakeHostOptions {
  /** The bridge's canonical origin. */
  url: string;
  credential: Credential;
  origin?: string;
  /** Overrides the credential's proof. */
  auth?: Record<string, unknown>;
  rpc?: RpcHandler;
  http?: (request: Request, opening: Opening) => Promise<Response>;
  /** Replaces `http` with access to the stream itself. */
  rawHttp?: (stream: Stream) => void;
  /** Replaces all of the above: called for each opened stream. */
  onstream?: (stream: Stream, opening: Opening) => void;
  /** Does not answer heartbeats, like a frozen worker. */
  frozen?: boolean;
  /** Capabilities in its hello. Default: none, like an older build, which works without the journal. */
  capabilities?: string[];
}

export class FakeHost {
  readonly mux: Mux;
  readonly socket: WebSocket;
  /** Opening of each stream, and the streams of RPC clients. */
  readonly openings: Opening[];
  readonly clients: { opening: Opening; stream: Stream; link: MovableLink; /** Resolves after `link.leave`. */ left: Promise<void> }[];

  constructor(mux: Mux, socket: WebSocket, openings: Opening[], clients: FakeHost['clients']) {
    this.mux = mux;
    this.socket = socket;
    this.openings = openings;
    this.clients = clients;
  }

  /** Terminates the connection without a close, like a killed worker. */
  die(): void {
    this.socket.terminate();
  }

  async close(code = 1000, reason = ''): Promise<void> {
    this.mux.close(code, reason);
    await this.mux.closed;
  }
}

/** A failed handshake, with the bridge's code and reason. */
class HandshakeRefusedError extends Error {
  readonly code: number;
  constructor(code: number, reason: string) {
    super(reason);
    this.code = code;
  }
}

/** Connects to `/uplink` like a worker: proves itself, checks the bridge's proof, then echoes clients' requests. */
export async function dialHost(options: FakeHostOptions): Promise<FakeHost> {
  const { url, credential, origin = url, frozen = false } = options;
  const { host } = new URL(url);
  // Unlike browsers, Node does not resolve names under localhost on every system.
  const address = `${url.replace('http', 'ws').replace(/[\w-]+\.localhost/, '127.0.0.1')}/uplink`;
  const socket = new WebSocket(address, { origin, headers: { host } });
  const texts = createAsyncQueue<string>();
  socket.on('message', (data, binary) => !binary && texts.push(data.toString()));
  socket.on('close', (code, reason) => texts.fail(new HandshakeRefusedError(code, reason.toString())));
  socket.on('error', (error) => texts.fail(error));

  const challenge = uplinkChallenge.parse(JSON.parse(await texts.next()));
  const key = await importSecret(credential.secret);
  const nonce = randomBytes(32).toString('base64url');
  const proof = await createProof(key, 'client', 'uplink', challenge.nonce, nonce);
  // The multiplexer's first message may follow the acceptance immediately, so it is buffered until there is a reader.
  const [near, far] = memoryPair<Uint8Array>();
  socket.send(JSON.stringify(options.auth ?? { credentialId: credential.id, nonce, proof }));
  const link = binarySocketLink(socket as unknown as Parameters<typeof binarySocketLink>[0]);
  link.receive({ message: (message) => far.send(message), close: (code, reason) => far.close(code, reason) });
  const accepted = uplinkAccepted.parse(JSON.parse(await texts.next()));
  if (!(await verifyProof(key, accepted.proof, 'server', 'uplink', challenge.nonce, nonce))) {
    socket.close(4001, 'the bridge did not prove itself');
    throw new Error('the bridge did not prove itself');
  }
  far.receive({
    message: (message) => (frozen && message[0] === FRAME_TYPE.pong ? undefined : link.send(message)),
    close: (code, reason) => link.close(code, reason),
  });

  const openings: Opening[] = [];
  const clients: FakeHost['clients'] = [];
  const mux = new Mux(near, {
    side: 'dialer',
    hello: {
      muxVersion: MUX_VERSION,
      portsVersion: PORTS_VERSION,
      schemaVersion: SCHEMA_VERSION,
      build: 'fake',
      capabilities: options.capabilities ?? [],
    },
    onstream(stream, opening) {
      openings.push(opening);
      if (options.onstream) return options.onstream(stream, opening);
      if (opening.kind === 'http' && options.rawHttp) return options.rawHttp(stream);
      if (opening.kind === 'http') return serveHttp(stream, opening, url, (request) => (options.http ?? echoHttp)(request, opening));
      const link = textLink(stream, () => PROTOCOL_LIMITS.maxPayload);
      clients.push({ opening, stream, link, left: serveClient(link, opening, options.rpc ?? createEchoRpc) });
    },
  });
  await mux.ready;
  return new FakeHost(mux, socket, openings, clients);
}

/**
 * Answers a client. Does not answer `connect` again for a client from another host. Resolves when everything that it sends here has been
 * read.
 */
function serveClient(link: Link<string>, opening: Opening, rpc: RpcHandler): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  link.receive({
    left: resolve,
    message(text) {
      const frame = JSON.parse(text) as RequestFrame;
      if (frame.method !== 'connect') return rpc(link, frame, text);
      if (opening.headers[HANDOFF_STATE_HEADER] !== undefined) return;
      link.send(JSON.stringify({ type: 'res', id: frame.id, ok: true, payload: { opening, params: frame.params } }));
    },
    close: () => {},
  });
  return promise;
}

const createEchoRpc: RpcHandler = (link, { id, params }) => link.send(JSON.stringify({ type: 'res', id, ok: true, payload: params }));

const echoHttp = async (request: Request, opening: Opening): Promise<Response> =>
  Response.json(
    { opening, body: await request.text(), contentType: request.headers.get('content-type') },
    { headers: { 'x-perch-test': 'echo' } },
  );
