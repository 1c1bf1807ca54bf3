import { once } from 'node:events';
import { WebSocket } from 'ws';

/** A WebSocket for requests and responses; each response belongs to the oldest pending request. */
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

  /** Connects to the plain echo server: every message is a response. */
  static async bare(url: string): Promise<SocketCaller> {
    const socket = new WebSocket(url, { perMessageDeflate: false });
    await once(socket, 'open');
    return new SocketCaller(socket, () => true);
  }

  /** Connects to the baseline's worker once it exists. */
  static async piped(url: string): Promise<SocketCaller> {
    const socket = new WebSocket(url, { perMessageDeflate: false });
    await once(socket, 'message');
    return new SocketCaller(socket, () => true);
  }

  /** Connects by protocol 3. Rejects if the connection is refused. */
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

  /** Calls a method of the gateway. Rejects if the response is an error. */
  async call(method: string, params: Record<string, unknown>): Promise<string> {
    const answer = await this.request(JSON.stringify({ type: 'req', id: String(++this.#count), method, params }));
    if (!answer.includes('"ok":true')) throw new Error(`${method} failed: ${answer.slice(0, 500)}`);
    return answer;
  }

  [Symbol.dispose](): void {
    this.#socket.terminate();
  }
}
