import { type ClientOptions, WebSocket } from 'ws';
import { createAsyncQueue } from './async-queue.ts';

/** A received frame, loosely typed. */
export interface TestFrame {
  type: string;
  id?: string;
  ok?: boolean;
  event?: string;
  seq?: number;
  payload?: Record<string, unknown>;
  error?: { code: string; message: string; retryAfterMs?: number };
}

class SocketClosedError extends Error {
  readonly code: number;
  readonly reason: string;
  constructor(code: number, reason: string) {
    super(`closed ${code} ${reason}`);
    this.code = code;
    this.reason = reason;
  }
}

/** A WebSocket client for tests: frames in order, and the close code. */
export class TestSocketClient {
  readonly socket: WebSocket;
  readonly #frames = createAsyncQueue<TestFrame>();
  /** Resolves to code and reason when the socket is closed. */
  readonly closed: Promise<SocketClosedError>;
  nonce = '';

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data) => this.#frames.push(JSON.parse(data.toString()) as TestFrame));
    socket.on('error', () => {});
    this.closed = new Promise((resolve) =>
      socket.on('close', (code, reason) => {
        const closed = new SocketClosedError(code, reason.toString());
        this.#frames.fail(closed);
        resolve(closed);
      }),
    );
  }

  /** Opens a socket and reads the challenge. Rejects with `Unexpected server response: <status>` if the upgrade is refused. */
  static async open(url: string, options: ClientOptions = {}, query = ''): Promise<TestSocketClient> {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/ws${query}`, options);
    const client = new TestSocketClient(socket);
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    const { event, seq, payload } = await client.next();
    if (event !== 'connect.challenge' || seq !== 1) throw new Error('no challenge came first');
    client.nonce = String(payload?.nonce);
    return client;
  }

  /** Opens and connects with a token. */
  static async connect(url: string, token: string, options: ClientOptions = {}): Promise<TestSocketClient> {
    const client = await TestSocketClient.open(url, options);
    const answer = await client.call('connect', { minProtocol: 3, maxProtocol: 3, auth: { token } });
    if (!answer.ok) throw new Error(answer.error?.code);
    return client;
  }

  next(): Promise<TestFrame> {
    return this.#frames.next();
  }

  send(text: string | Buffer): void {
    this.socket.send(text);
  }

  call(method: string, params: Record<string, unknown> = {}, id = 'id-1'): Promise<TestFrame> {
    this.send(JSON.stringify({ type: 'req', id, method, params }));
    return this.next();
  }
}
