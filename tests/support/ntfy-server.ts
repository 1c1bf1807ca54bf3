import { once } from 'node:events';
import { type WebSocket, WebSocketServer } from 'ws';
import { type PlatformRequest, startPlatformServer } from './platform-server.ts';

export const NTFY_TOKEN = 'tk_abcdefgh12345678';

interface Message {
  id: string;
  time: number;
  event: 'message';
  topic: string;
  message: string;
  title?: string;
  sequence_id?: string;
  attachment?: { name: string; type: string; size: number; url: string };
}

/** A local server that responds like ntfy (https://docs.ntfy.sh). `isProtected`: whether topics need the token. */
export async function startNtfyServer(now: () => number) {
  const messages: Message[] = [];
  const files = new Map<string, Buffer>();
  /** `isOld`: a server without sequence ids. */
  const options = { isProtected: true, isOld: false };
  const subscribers = new Map<WebSocket, string>();
  let lastId = 0;
  const add = (message: Omit<Message, 'id' | 'time' | 'event'>): Message => {
    const id = `message${++lastId}`;
    const { sequence_id, ...rest } = message;
    const added: Message = { id, time: Math.floor(now() / 1000), event: 'message', ...rest };
    messages.push(options.isOld ? added : { ...added, sequence_id: sequence_id ?? id });
    for (const [socket, topic] of subscribers) if (topic === message.topic) socket.send(JSON.stringify(messages.at(-1)));
    return messages.at(-1) ?? added;
  };
  const getStored = (topic: string, since: string | null): Message[] =>
    messages.filter((message) => message.topic === topic && message.time >= Number(since ?? 0));
  const refuse = (http: number, error: string) => ({ status: http, json: { code: http * 100 + 1, http, error } });
  const isAllowed = (authorization: string | undefined): boolean => !options.isProtected || authorization === `Bearer ${NTFY_TOKEN}`;
  const server = await startPlatformServer(({ method, path, query, headers, body }: PlatformRequest) => {
    const [, topic = '', action = ''] = path.split('/');
    if (topic === 'v1') return { json: { healthy: true } };
    if (!isAllowed(headers.authorization)) return refuse(403, 'forbidden');
    if (topic === 'file') return { bytes: files.get(action) ?? Buffer.alloc(0), headers: { 'content-type': 'text/plain' } };
    if (method === 'GET' && action === 'json') {
      const lines = getStored(topic, query.get('since')).map((message) => JSON.stringify(message));
      return { bytes: Buffer.from(lines.join('\n')), headers: { 'content-type': 'application/x-ndjson' } };
    }
    if (method === 'PUT') {
      const name = query.get('filename') ?? 'attachment';
      return { json: add({ topic, message: `You received a file: ${name}`, attachment: store(name, body) }) };
    }
    const published = JSON.parse(body.toString()) as Message;
    if (Buffer.byteLength(published.message) > 4096) return refuse(413, 'message too large');
    const { message, sequence_id } = published;
    return { json: add({ topic: published.topic, message, ...(sequence_id === undefined ? {} : { sequence_id }) }) };
  });
  function store(name: string, bytes: Buffer): NonNullable<Message['attachment']> {
    const id = `${files.size + 1}`;
    files.set(id, bytes);
    return { name, type: 'text/plain', size: bytes.length, url: `${server.url}/file/${id}` };
  }
  const sockets = new WebSocketServer({ noServer: true });
  server.http.on('upgrade', (request, socket, head) => {
    const url = new URL(request.url ?? '', server.url);
    const auth = url.searchParams.get('auth');
    if (!isAllowed(auth === null ? undefined : Buffer.from(auth, 'base64').toString()))
      return void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    sockets.handleUpgrade(request, socket, head, (client) => {
      const topic = url.pathname.split('/')[1] ?? '';
      subscribers.set(client, topic);
      client.on('close', () => subscribers.delete(client));
      client.on('error', () => {});
      client.send(JSON.stringify({ id: 'open1', time: Math.floor(now() / 1000), event: 'open', topic }));
      for (const message of getStored(topic, url.searchParams.get('since'))) client.send(JSON.stringify(message));
    });
    return undefined;
  });
  return Object.assign(server, {
    ...{ options, messages, files },
    write: (topic: string, message: string, more: Partial<Message> = {}): Message => add({ topic, message, ...more }),
    /** A message with a file that is stored on the server. */
    share: (topic: string, name: string, content: string): Message =>
      add({ topic, message: `You received a file: ${name}`, attachment: store(name, Buffer.from(content)) }),
    in: (topic: string): Message[] => messages.filter((message) => message.topic === topic),
    subscriberCount: () => subscribers.size,
    /** Breaks all subscriptions. */
    cut(): void {
      for (const socket of subscribers.keys()) socket.terminate();
    },
    async stop() {
      for (const socket of subscribers.keys()) socket.terminate();
      sockets.close();
      await once(sockets, 'close');
      await server[Symbol.asyncDispose]();
    },
  });
}
