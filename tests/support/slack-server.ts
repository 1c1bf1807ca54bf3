import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { type PlatformRequest, startPlatformServer } from './platform-server.ts';

export const SLACK_BOT_TOKEN = 'xoxb-1234-the-token-of-the-bot';
export const SLACK_APP_TOKEN = 'xapp-1-A1-the-token-of-the-app';
export const SLACK_SELF = 'U0PERCH';
export const ADA = 'U1ADA';
export const BOB = 'U2BOB';
const NAMES: Record<string, string> = { [ADA]: 'Ada', [BOB]: 'Bob', [SLACK_SELF]: 'Perch' };
const CHANNELS: Record<string, string> = { C1: 'kitchen', C2: 'attic' };
/** Messages may have so many characters. */
const MAX_TEXT = 40_000;

export interface SlackMessage {
  channel: string;
  ts: string;
  text: string;
  user: string;
  bot_id?: string;
  thread_ts?: string;
  metadata?: object;
  blocks?: { type: string; text?: { text: string }; elements?: { value: string; text: { text: string } }[] }[];
  [name: string]: unknown;
}

interface Envelope {
  envelope_id: string;
  type: string;
  payload: object;
  retry_attempt: number;
}

/** A local server that responds like Slack's Web API and socket mode (https://docs.slack.dev). */
export async function startSlackServer(now: () => number) {
  const messages: SlackMessage[] = [];
  const reactions: string[] = [];
  const ephemerals: { channel: string; user: string; text: string }[] = [];
  const edits: { ts: string; text: string; blocks?: unknown[] }[] = [];
  const uploads = new Map<string, { name: string; bytes?: Buffer }>();
  const files: { name: string; content: string; channel: string; thread_ts?: string }[] = [];
  const acknowledged: string[] = [];
  const unacknowledged = new Map<string, Envelope>();
  /** `tokenError`: error of all methods. `missingScope`: scope that the app lacks. `isSilent`: no hello comes. `isDeaf`: no news is sent. */
  const options = { tokenError: '', missingScope: '', linkDisabled: false, isDeaf: false, hidesMetadata: false };
  const sockets = new Set<WebSocket>();
  const tickets = new Set<string>();
  let lastNumber = 0;
  let connections = 0;
  let lastTs = 0;
  const createTs = (): string => {
    lastTs = Math.max(lastTs + 1, now() * 1000);
    return `${Math.floor(lastTs / 1e6)}.${`${lastTs % 1e6}`.padStart(6, '0')}`;
  };
  const gateway = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(gateway, 'listening');
  const gatewayUrl = `ws://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
  const deliver = (envelope: Envelope): void => {
    const socket = [...sockets].at(-1);
    if (socket && !options.isDeaf) socket.send(JSON.stringify({ ...envelope, accepts_response_payload: false }));
  };
  const emit = (type: string, payload: object): void => {
    const envelope = { envelope_id: `envelope-${++lastNumber}`, type, payload, retry_attempt: 0 };
    unacknowledged.set(envelope.envelope_id, envelope);
    deliver(envelope);
  };
  const emitEvent = (event: object): void => emit('events_api', { type: 'event_callback', event_id: `Ev${++lastNumber}`, event });
  gateway.on('connection', (socket, request) => {
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    const ticket = new URL(request.url ?? '', gatewayUrl).searchParams.get('ticket') ?? '';
    // An address works once.
    if (!tickets.delete(ticket)) return socket.close(1008);
    if (options.linkDisabled) {
      socket.send(JSON.stringify({ type: 'disconnect', reason: 'link_disabled' }));
      return socket.close();
    }
    connections++;
    sockets.add(socket);
    socket.send(JSON.stringify({ type: 'hello', num_connections: sockets.size, connection_info: { app_id: 'A1' } }));
    socket.on('message', (data: Buffer) => {
      const { envelope_id: id } = JSON.parse(data.toString()) as { envelope_id: string };
      if (unacknowledged.delete(id)) acknowledged.push(id);
    });
    return undefined;
  });

  const fail = (error: string, more: object = {}) => ({ json: { ok: false, error, ...more } });
  const isVisible = (channel: string): boolean => channel.startsWith('D') || CHANNELS[channel] !== undefined;
  const toPage = (found: SlackMessage[], args: URLSearchParams) => {
    const start = Number(args.get('cursor') ?? 0);
    const limit = Number(args.get('limit') ?? 100);
    const shown = found.slice(start, start + limit).map(({ channel: _channel, metadata, ...message }) => ({
      ...message,
      type: 'message',
      ...(args.get('include_all_metadata') === 'true' && !options.hidesMetadata ? { metadata } : {}),
    }));
    const next = start + limit < found.length ? `${start + limit}` : '';
    return { json: { ok: true, messages: shown, has_more: next !== '', response_metadata: { next_cursor: next } } };
  };
  const methods: Record<string, (args: URLSearchParams) => object> = {
    'auth.test': () => ({ json: { ok: true, user_id: SLACK_SELF, team_id: 'T1', bot_id: 'B1' } }),
    'apps.connections.open': () => {
      const ticket = `ticket-${++lastNumber}`;
      tickets.add(ticket);
      return { json: { ok: true, url: `${gatewayUrl}/link/?ticket=${ticket}` } };
    },
    'chat.postMessage': (args) => {
      const [channel = '', text = ''] = [args.get('channel') ?? '', args.get('text') ?? ''];
      if (!isVisible(channel)) return fail('channel_not_found');
      if (text === '') return fail('no_text');
      if (text.length > MAX_TEXT) return fail('msg_too_long');
      const [thread, metadata, blocks] = [args.get('thread_ts'), args.get('metadata'), args.get('blocks')];
      const message: SlackMessage = {
        ...{ channel, ts: createTs(), text, user: SLACK_SELF, bot_id: 'B1' },
        ...(thread === null ? {} : { thread_ts: thread }),
        ...(metadata === null ? {} : { metadata: JSON.parse(metadata) as object }),
        ...(blocks === null ? {} : { blocks: JSON.parse(blocks) as NonNullable<SlackMessage['blocks']> }),
      };
      if (message.blocks?.some((block) => (block.text?.text.length ?? 0) > 3000)) return fail('invalid_blocks');
      messages.push(message);
      emitEvent({ type: 'message', channel_type: channel.startsWith('D') ? 'im' : 'channel', ...message });
      return { json: { ok: true, channel, ts: message.ts, message } };
    },
    'chat.update': (args) => {
      const message = messages.find(({ ts, channel }) => ts === args.get('ts') && channel === args.get('channel'));
      if (!message) return fail('message_not_found');
      const [text, blocks] = [args.get('text') ?? '', args.get('blocks')];
      edits.push({ ts: message.ts, text, ...(blocks === null ? {} : { blocks: JSON.parse(blocks) as unknown[] }) });
      Object.assign(message, { text });
      return { json: { ok: true, ts: message.ts } };
    },
    'chat.postEphemeral': (args) => {
      ephemerals.push({ channel: args.get('channel') ?? '', user: args.get('user') ?? '', text: args.get('text') ?? '' });
      return { json: { ok: true, message_ts: createTs() } };
    },
    'conversations.open': (args) => {
      const user = args.get('users') ?? '';
      return NAMES[user] === undefined ? fail('user_not_found') : { json: { ok: true, channel: { id: `D${user.slice(1)}` } } };
    },
    'conversations.info': (args) => ({ json: { ok: true, channel: { name: CHANNELS[args.get('channel') ?? ''] } } }),
    'conversations.history': (args) => {
      const channel = args.get('channel') ?? '';
      if (!isVisible(channel)) return fail('channel_not_found');
      const oldest = Number(args.get('oldest') ?? 0);
      const isListed = ({ channel: at, ts, thread_ts: thread }: SlackMessage): boolean =>
        at === channel && Number(ts) > oldest && (thread === undefined || thread === ts);
      return toPage(messages.filter(isListed).reverse(), args);
    },
    'conversations.replies': (args) => {
      const root = args.get('ts');
      const oldest = Number(args.get('oldest') ?? 0);
      const inThread = messages.filter(
        ({ ts, thread_ts, channel }) => channel === args.get('channel') && (ts === root || (thread_ts === root && Number(ts) > oldest)),
      );
      return inThread.length === 0 ? fail('thread_not_found') : toPage(inThread, args);
    },
    'users.info': (args) => {
      const name = NAMES[args.get('user') ?? ''];
      return name === undefined ? fail('user_not_found') : { json: { ok: true, user: { real_name: name, profile: { display_name: '' } } } };
    },
    'reactions.add': (args) => {
      reactions.push(`add ${args.get('name')} ${args.get('timestamp')}`);
      return { json: { ok: true } };
    },
    'reactions.remove': (args) => {
      reactions.push(`remove ${args.get('name')} ${args.get('timestamp')}`);
      return { json: { ok: true } };
    },
    'files.getUploadURLExternal': (args) => {
      const id = `F${++lastNumber}`;
      uploads.set(id, { name: args.get('filename') ?? '' });
      return { json: { ok: true, file_id: id, upload_url: `${server.url}/upload/${id}` } };
    },
    'files.completeUploadExternal': (args) => {
      const [entry] = JSON.parse(args.get('files') ?? '[]') as { id: string }[];
      const upload = uploads.get(entry?.id ?? '');
      if (!upload?.bytes) return fail('file_not_found');
      const thread = args.get('thread_ts');
      const file = { name: upload.name, content: upload.bytes.toString(), channel: args.get('channel_id') ?? '' };
      files.push({ ...file, ...(thread === null ? {} : { thread_ts: thread }) });
      return { json: { ok: true, files: [{ id: entry?.id }] } };
    },
  };

  const server = await startPlatformServer(({ path, headers, body }: PlatformRequest) => {
    const [, area = '', name = ''] = path.split('/');
    if (area === 'upload') {
      const upload = uploads.get(name);
      if (upload) upload.bytes = body;
      return { bytes: Buffer.from(`OK - ${body.length}`), headers: { 'content-type': 'text/plain' } };
    }
    if (area === 'files') {
      if (headers.authorization !== `Bearer ${SLACK_BOT_TOKEN}` || options.missingScope === 'files:read')
        return { bytes: Buffer.from('<html>Sign in</html>'), headers: { 'content-type': 'text/html' } };
      return { bytes: Buffer.from('a file'), headers: { 'content-type': 'text/plain' } };
    }
    const method = methods[name];
    if (!method) return fail('unknown_method');
    const wanted = name === 'apps.connections.open' ? SLACK_APP_TOKEN : SLACK_BOT_TOKEN;
    if (headers.authorization !== `Bearer ${wanted}`) return fail('invalid_auth');
    if (options.tokenError !== '') return fail(options.tokenError);
    if (options.missingScope !== '' && name === 'chat.postMessage') return fail('missing_scope', { needed: options.missingScope });
    return method(new URLSearchParams(body.toString()));
  });

  const toEvent = (message: SlackMessage): object => ({
    type: 'message',
    channel_type: message.channel.startsWith('D') ? 'im' : 'channel',
    ...message,
  });
  return Object.assign(server, {
    ...{ options, messages, reactions, ephemerals, edits, uploads, files, acknowledged, unacknowledged },
    connections: () => connections,
    /** A message of a user: in a private chat, or in a channel. Mentions also come as an event of their own. */
    write(
      text: string,
      { from = ADA, channel = `D${from.slice(1)}`, ...more }: Record<string, unknown> & { from?: string; channel?: string } = {},
    ): string {
      const message: SlackMessage = { channel, ts: createTs(), text, user: from, ...more };
      messages.push(message);
      emitEvent(toEvent(message));
      if (text.includes(`<@${SLACK_SELF}>`)) {
        const { subtype: _, ...mention } = message;
        emitEvent({ ...mention, type: 'app_mention' });
      }
      return message.ts;
    },
    edit(ts: string, text: string): void {
      const message = messages.find((each) => each.ts === ts);
      if (!message) return;
      const before = { ...message };
      Object.assign(message, { text, edited: { user: message.user, ts: createTs() } });
      const { channel, ...changed } = message;
      emitEvent({
        ...{ type: 'message', subtype: 'message_changed', hidden: true, channel, ts: createTs() },
        message: changed,
        previous_message: before,
      });
    },
    remove(ts: string): void {
      const index = messages.findIndex((each) => each.ts === ts);
      const [message] = messages.splice(index, 1);
      emitEvent({ type: 'message', subtype: 'message_deleted', hidden: true, channel: message?.channel, deleted_ts: ts, ts: createTs() });
    },
    /** A press of a button of a message. */
    press(ts: string, value: string, user = ADA): void {
      const message = messages.find((each) => each.ts === ts);
      emit('interactive', {
        ...{ type: 'block_actions', user: { id: user, name: NAMES[user]?.toLowerCase() }, channel: { id: message?.channel } },
        ...{ message: { ts }, actions: [{ type: 'button', action_id: 'perch_0', value, action_ts: createTs() }] },
      });
    },
    /** Messages of the app. */
    sent: (): SlackMessage[] => messages.filter(({ bot_id }) => bot_id !== undefined),
    /** Sends everything again that was not acknowledged, as Slack does after three seconds. */
    repeat(): void {
      for (const envelope of unacknowledged.values()) deliver({ ...envelope, retry_attempt: ++envelope.retry_attempt });
    },
    /** Announces the end of the current connection. */
    askToReconnect(): void {
      for (const socket of sockets) socket.send(JSON.stringify({ type: 'disconnect', reason: 'refresh_requested' }));
    },
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
