import { once } from 'node:events';
import { WebSocket } from 'ws';

/** A WebSocket on which questions are asked and answered, each answer taken for the oldest question's. */
export class SocketCaller implements Disposable {
  readonly #socket: WebSocket;
  readonly #pendingCalls: { resolve(text: string): void; reject(error: Error): void }[] = [];
  /** Called with messages that are not responses: events. */
  onevent: (text: string) => void = () => {};

  private constructor(socket: WebSocket, isAnswer: (text: string) => boolean) {
    this.#socket = socket;
    socket.on('message', (data: Buffer) => {
      const text = data.toString();
      if (isAnswer(text)) this.#pendingCalls.shift()?.resolve(text);
      else this.onevent(text);
    });
    socket.on('error', () => {});
    socket.on('close', (code, reason) => {
      for (const { reject } of this.#pendingCalls.splice(0)) reject(new Error(`the socket closed: ${code} ${reason.toString()}`));
    });
  }

  /** A line to the bare echo: every message is an answer. */
  static async bare(url: string): Promise<SocketCaller> {
    const socket = new WebSocket(url, { perMessageDeflate: false });
    await once(socket, 'open');
    return new SocketCaller(socket, () => true);
  }

  /** A line to the floor's worker, once there is one. */
  static async piped(url: string): Promise<SocketCaller> {
    const socket = new WebSocket(url, { perMessageDeflate: false });
    await once(socket, 'message');
    return new SocketCaller(socket, () => true);
  }

  /** A connection of protocol 3. Rejects where it is refused. */
  static async connect(url: string, token: string): Promise<SocketCaller> {
    const socket = new WebSocket(url, { perMessageDeflate: false });
    await once(socket, 'message');
    const caller = new SocketCaller(socket, (text) => text.startsWith('{"type":"res"'));
    await caller.call('connect', { minProtocol: 3, maxProtocol: 3, clientName: 'bench', auth: { token } });
    return caller;
  }

  request(text: string): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#pendingCalls.push({ resolve, reject });
      this.#socket.send(text);
    });
  }

  #count = 0;

  /** Asks a method of the gateway; rejects where it answers with an error. */
  async call(method: string, params: Record<string, unknown>): Promise<string> {
    const answer = await this.request(JSON.stringify({ type: 'req', id: String(++this.#count), method, params }));
    if (!answer.includes('"ok":true')) throw new Error(`${method} failed: ${answer.slice(0, 500)}`);
    return answer;
  }

  [Symbol.dispose](): void {
    this.#socket.terminate();
  }
}
