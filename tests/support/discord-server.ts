import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { type PlatformRequest, startPlatformServer } from './platform-server.ts';

export const DISCORD_TOKEN = 'MTIzNDU2.Gabcde.token_of_the_bot';
export const DISCORD_SELF = '1000';
const DISCORD_EPOCH = 1_420_070_400_000;
const USERS: Record<string, string> = { '7': 'ada', '8': 'bob', [DISCORD_SELF]: 'perch' };

interface StoredMessage {
  id: string;
  channel_id: string;
  author: object;
  content: string;
  nonce?: string;
  [name: string]: unknown;
}

interface GatewayEvent {
  s: number;
  t: string;
  d: object;
}

const toUser = (id: string): object => ({
  id,
  username: USERS[id] ?? `user${id}`,
  global_name: null,
  ...(id === DISCORD_SELF ? { bot: true } : {}),
});

/** A local server that responds like Discord's API and gateway, version 10 (https://discord.com/developers/docs). */
export async function startDiscordServer(now: () => number) {
  const messages: StoredMessage[] = [];
  const events: GatewayEvent[] = [];
  const callbacks: { path: string; body: { type: number; data: { content: string; flags: number } } }[] = [];
  const reactions: string[] = [];
  const files: string[] = [];
  const received: { op: number; d: Record<string, unknown> }[] = [];
  /** `heartbeatMs`: interval that clients are told. `isDeaf`: acknowledges no heartbeats. `hasLostSessions`: lets no session go on. `resumeUrl`: where sessions go on, if not here. */
  const options = { heartbeatMs: 40_000, isDeaf: false, hasLostSessions: false, closeCode: 0, resumeUrl: '' };
  let lastNumber = 0;
  let session = 0;
  const createId = (): string => `${(BigInt(now() - DISCORD_EPOCH) << 22n) + BigInt(++lastNumber)}`;
  const clients = new Set<WebSocket>();
  const gateway = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(gateway, 'listening');
  const gatewayUrl = `ws://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
  const send = (socket: WebSocket, payload: object): void => socket.send(JSON.stringify(payload));
  const emit = (t: string, d: object): void => {
    const event = { s: events.length + 1, t, d };
    events.push(event);
    for (const socket of clients) send(socket, { op: 0, ...event });
  };
  gateway.on('connection', (socket) => {
    send(socket, { op: 10, d: { heartbeat_interval: options.heartbeatMs } });
    socket.on('close', () => clients.delete(socket));
    socket.on('error', () => {});
    socket.on('message', (data: Buffer) => {
      const { op, d } = JSON.parse(data.toString()) as { op: number; d: Record<string, unknown> };
      received.push({ op, d });
      if (op === 1 && !options.isDeaf) return send(socket, { op: 11 });
      if (op !== 2 && op !== 6) return undefined;
      if (options.closeCode > 0) return socket.close(options.closeCode);
      if (d['token'] !== DISCORD_TOKEN) return socket.close(4004);
      if (op === 6) {
        if (options.hasLostSessions || d['session_id'] !== `session${session}`) return send(socket, { op: 9, d: false });
        for (const event of events.filter(({ s }) => s > Number(d['seq']))) send(socket, { op: 0, ...event });
        clients.add(socket);
        return emit('RESUMED', {});
      }
      session++;
      clients.add(socket);
      emit('READY', { session_id: `session${session}`, resume_gateway_url: options.resumeUrl || gatewayUrl, user: toUser(DISCORD_SELF) });
      emit('GUILD_CREATE', {
        id: '500',
        channels: [{ id: '501', name: 'kitchen' }],
        threads: [{ id: '502', name: 'dessert', parent_id: '501' }],
      });
    });
  });

  const refuse = (status: number, code: number, message: string) => ({ status, json: { code, message } });
  const serveChannel = (method: string, channel: string, rest: string[], query: URLSearchParams, body: Record<string, never>) => {
    const [area = '', id = ''] = rest;
    if (area === 'typing') return { status: 204 };
    if (channel === '403') return refuse(403, 50_007, 'Cannot send messages to this user');
    if (rest.includes('reactions')) {
      reactions.push(`${method} ${id}`);
      return { status: 204 };
    }
    if (method === 'GET') {
      const after = BigInt(query.get('after') ?? 0);
      const found = messages.filter((message) => message.channel_id === channel && BigInt(message.id) > after);
      // The API names neither the server nor the nonce here; newest first.
      return { json: found.map(({ guild_id: _guild, nonce: _nonce, ...message }) => message).reverse() };
    }
    if (method === 'PATCH') {
      const message = messages.find((each) => each.id === id);
      return message ? { json: Object.assign(message, body) } : refuse(404, 10_008, 'Unknown Message');
    }
    const { content = '', nonce }: { content?: string; nonce?: string } = body;
    if (content.length > 2000) return refuse(400, 50_035, 'Invalid Form Body');
    const known = messages.find((message) => nonce !== undefined && message.nonce === nonce);
    if (known) return { json: known };
    const message = { ...body, id: createId(), channel_id: channel, author: toUser(DISCORD_SELF), content };
    messages.push(message);
    emit('MESSAGE_CREATE', message);
    return { json: message };
  };

  const server = await startPlatformServer(({ method, path, query, headers, body }: PlatformRequest) => {
    if (path.startsWith('/files/')) return { bytes: Buffer.from('a file'), headers: { 'content-type': 'text/plain' } };
    const [, , , first = '', second = '', ...rest] = path.split('/').map(decodeURIComponent);
    const isForm = headers['content-type']?.startsWith('multipart/') === true;
    if (isForm) files.push(body.toString('latin1'));
    const json = isForm ? ({} as Record<string, never>) : (JSON.parse(body.toString() || '{}') as Record<string, never>);
    if (first === 'interactions') {
      callbacks.push({ path, body: json as never });
      return { status: 204 };
    }
    if (headers.authorization !== `Bot ${DISCORD_TOKEN}`) return refuse(401, 0, '401: Unauthorized');
    if (first === 'gateway')
      return { json: { url: gatewayUrl, shards: 1, session_start_limit: { total: 1000, remaining: 999, reset_after: 1 } } };
    if (first === 'users')
      return USERS[json['recipient_id'] ?? ''] === undefined
        ? refuse(400, 50_033, 'Invalid Recipient(s)')
        : { json: { id: `9${String(json['recipient_id'])}` } };
    return first === 'channels' ? serveChannel(method, second, rest, query, json) : refuse(404, 0, '404: Not Found');
  });

  return Object.assign(server, {
    options,
    messages,
    received,
    callbacks,
    reactions,
    files,
    emit,
    forgetNonces(): void {
      for (const message of messages) delete message.nonce;
    },
    /** A message of a user: in a private chat, or in a server's channel. */
    write(
      content: string,
      { from = '7', channel = `9${from}`, ...more }: Record<string, unknown> & { from?: string; channel?: string } = {},
    ): string {
      const isDirect = channel.startsWith('9');
      const mentions = content.includes(`<@${DISCORD_SELF}>`) ? [toUser(DISCORD_SELF)] : [];
      const message = {
        ...{ id: createId(), channel_id: channel, type: 0, author: toUser(from), content, mentions, attachments: [] },
        ...{ timestamp: new Date(now()).toISOString(), edited_timestamp: null },
        ...(isDirect ? {} : { guild_id: '500' }),
        ...more,
      };
      messages.push(message);
      emit('MESSAGE_CREATE', message);
      return message.id;
    },
    /** An edit of a message. */
    edit(id: string, content: string): void {
      const message = messages.find((each) => each.id === id);
      if (message) emit('MESSAGE_UPDATE', Object.assign(message, { content, edited_timestamp: new Date(now()).toISOString() }));
    },
    remove(id: string): void {
      const [message] = messages.splice(
        messages.findIndex((each) => each.id === id),
        1,
      );
      if (message) emit('MESSAGE_DELETE', { id, channel_id: message.channel_id });
    },
    /** A press of a button of a message, in a private chat or in a server's channel. */
    press(messageId: string, value: string, { by = '7', channel = `9${by}` }: { by?: string; channel?: string } = {}): void {
      const isDirect = channel.startsWith('9');
      emit('INTERACTION_CREATE', {
        ...{ id: createId(), token: 'token-of-the-press', type: 3, channel_id: channel, message: { id: messageId } },
        data: { custom_id: value, component_type: 2 },
        ...(isDirect ? { user: toUser(by) } : { guild_id: '500', member: { user: toUser(by) } }),
      });
    },
    /** Messages of the bot. */
    sent: (): StoredMessage[] => messages.filter(({ author }) => 'bot' in author),
    /** Breaks all connections. */
    cut(): void {
      for (const socket of gateway.clients) socket.terminate();
    },
    async stop() {
      for (const socket of gateway.clients) socket.terminate();
      gateway.close();
      await once(gateway, 'close');
      await server[Symbol.asyncDispose]();
    },
  });
}
