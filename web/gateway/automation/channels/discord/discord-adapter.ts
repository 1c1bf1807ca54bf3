import { fromBase64 } from '#shared/base64.ts';
import { z } from '#shared/rpc/zod.ts';
import { sleep } from '#shared/async/watchdog.ts';
import { sha256 } from '#shared/sha256.ts';
import type { IncomingFile, IncomingMessage, PendingMessage } from '../../../storage/records/channel-state.ts';
import type {
  Button,
  ButtonPress,
  ChannelAdapter,
  DeletedMessage,
  FilePart,
  PollContext,
  PollResult,
  Post,
  SendContext,
} from '../channel-adapter.ts';
import { getHelpText } from '../chat-commands.ts';
import { PlatformError } from '../platform-request.ts';
import { PollWait } from '../poll-wait.ts';
import { splitText } from '../split-text.ts';
import { DiscordApi, type DiscordApiDeps } from './discord-api.ts';
import { DiscordConnection, type DiscordSession, SessionEndedError } from './discord-connection.ts';
import { type ChannelInfo, discordMessage, type DiscordMessage, snowflake, toButtonPress, toIncomingMessage } from './discord-messages.ts';
import { MissedMessages } from './missed-messages.ts';

const MAX_CHARS = 2000;
const MAX_FILE_BYTES = 20 * 1024 * 1024;
const UPLOAD_TIMEOUT_MS = 120_000;
/** Pause before a new session, as Discord asks for. */
const NEW_SESSION_PAUSE_MS = 2_000;
/** Failed attempts after which a new session begins. */
const MAX_FAILED_RESUMES = 3;
/** The position in a session is stored with messages, or when this many other events have come: each one is a write. */
const SEQ_STEP = 200;
/** Number of button presses that can still be answered. */
const MAX_PRESSES = 100;
const NONCE_CHARS = 24;

/** Guilds, their messages, and direct messages; texts of messages without a mention need a permission of the bot. */
const INTENTS = (1 << 0) | (1 << 9) | (1 << 12);
const MESSAGE_CONTENT_INTENT = 1 << 15;
const SUPPRESS_EMBEDS = 1 << 2;
const EPHEMERAL = 1 << 6;

const gatewayInfo = z.object({
  url: z.string(),
  session_start_limit: z.object({ remaining: z.number(), reset_after: z.number() }).optional().catch(undefined),
});
const deletedMessage = z.object({ id: snowflake, channel_id: snowflake });
const sentMessage = z.object({ id: snowflake });
const directChannel = z.object({ id: snowflake });
const anything = z.unknown();
const readyEvent = z.object({ user: z.object({ id: snowflake }) });
const channelList = z.array(z.object({ id: snowflake, name: z.string().catch(''), parent_id: snowflake.nullish() })).catch([]);
const guild = z.object({ channels: channelList.optional(), threads: channelList.optional() });
const storedSession = z.object({ id: z.string(), seq: z.number(), url: z.string() });

interface DiscordAdapterDeps extends DiscordApiDeps {
  /** Whether all messages in groups are wanted, not only mentions. */
  readsAllMessages: boolean;
  openSocket?(url: string): WebSocket;
}

/** Discord, by its gateway for events and its HTTP API for the rest: needs no public address. */
export class DiscordAdapter implements ChannelAdapter {
  readonly name = 'Discord';
  readonly minRetryMs = 2_000;
  readonly help = getHelpText();
  readonly #deps: Required<DiscordAdapterDeps>;
  readonly #api: DiscordApi;
  readonly #news: PollWait;
  readonly #channels = new Map<string, ChannelInfo>();
  readonly #directChannels = new Map<string, string>();
  readonly #pressTokens = new Map<string, string>();
  #messages: DiscordMessage[] = [];
  #deleted: DeletedMessage[] = [];
  #presses: ButtonPress[] = [];
  #self = '';
  #connection: DiscordConnection | undefined;
  /** The session to continue, while there is no connection. */
  #session: DiscordSession | undefined;
  #failedResumes = 0;
  #missed: MissedMessages | undefined;

  constructor(deps: DiscordAdapterDeps) {
    this.#deps = { openSocket: (url) => new WebSocket(url), ...deps };
    this.#api = new DiscordApi(deps);
    this.#news = new PollWait(deps.clock);
  }

  async poll({ cursors, signal }: PollContext): Promise<PollResult> {
    const { clock } = this.#deps;
    if (!this.#missed) {
      this.#missed = new MissedMessages(this.#api, cursors['last']);
      this.#self = cursors['self'] ?? '';
      this.#session = parseSession(cursors['session']);
    }
    const isConnected = this.#connection?.hasEnded === false;
    if (!isConnected) await this.#connect(signal);
    else await this.#waitForNews(signal);
    const context = { self: this.#self, now: clock.now(), getChannel: (id: string) => this.#channels.get(id) };
    const [received, deleted, presses] = [this.#messages, this.#deleted, this.#presses];
    this.#messages = [];
    this.#deleted = [];
    this.#presses = [];
    const messages: IncomingMessage[] = [];
    for (const source of received) {
      const message = toIncomingMessage(source, context);
      if (!message) continue;
      messages.push(message);
      if (message.isGroup !== true || message.isMention) this.#missed.note(source);
    }
    const session = this.#connection?.session ?? this.#session;
    const storedSeq = parseSession(cursors['session']);
    const isMoved =
      session?.id !== storedSeq?.id ||
      messages.length + deleted.length + presses.length > 0 ||
      (session?.seq ?? 0) - (storedSeq?.seq ?? 0) >= SEQ_STEP;
    return {
      ...{ messages, deleted, presses, nextMs: 0 },
      cursors: { self: this.#self, last: this.#missed.toText(), ...(isMoved ? { session: session ? JSON.stringify(session) : '' } : {}) },
    };
  }

  split(text: string): string[] {
    return splitText(text, MAX_CHARS);
  }

  send(message: PendingMessage, part: string, { sent, signal }: SendContext): Promise<string> {
    const { to, platformId, isGroup } = message;
    const reply =
      isGroup && sent.length === 0 && platformId !== undefined
        ? { message_reference: { message_id: platformId, fail_if_not_exists: false } }
        : {};
    return this.#sendPiece(to, `${message.id}/${sent.length}`, part, reply, signal);
  }

  findSent({ to, platformId }: PendingMessage, part: string, { sent, signal }: SendContext): Promise<string | null> {
    return this.#findPiece(to, part, sent.at(-1) ?? platformId, signal);
  }

  async post(post: Post, part: string, { sent, signal }: SendContext): Promise<string> {
    const channel = post.thread ?? (await this.#resolve(post.to, signal));
    return this.#sendPiece(channel, `${post.id}/${sent.length}`, part, toComponents(post.buttons), signal);
  }

  async findPosted(post: Post, part: string, { sent, signal }: SendContext): Promise<string | null> {
    return this.#findPiece(post.thread ?? (await this.#resolve(post.to, signal)), part, sent.at(-1), signal);
  }

  sendFile(message: PendingMessage, file: FilePart, signal: AbortSignal): Promise<void> {
    return this.#uploadFile(message.to, file, signal);
  }

  async postFile(post: Post, file: FilePart, signal: AbortSignal): Promise<void> {
    return this.#uploadFile(post.thread ?? (await this.#resolve(post.to, signal)), file, signal);
  }

  fetchFile({ id }: IncomingFile, signal: AbortSignal): Promise<{ bytes: Uint8Array<ArrayBuffer>; mimeType: string }> {
    return this.#api.download(id, MAX_FILE_BYTES, signal);
  }

  async edit(to: string, sentId: string, text: string, signal: AbortSignal): Promise<void> {
    const channel = await this.#resolve(to, signal);
    const body = { content: text.slice(0, MAX_CHARS), components: [], allowed_mentions: { parse: [] } };
    await this.#api.request('PATCH', `/channels/${channel}/messages/${sentId}`, anything, { body, signal });
  }

  async answerPress({ id }: ButtonPress, text: string, signal: AbortSignal): Promise<void> {
    const token = this.#pressTokens.get(id);
    this.#pressTokens.delete(id);
    if (token === undefined) return;
    const body = { type: 4, data: { content: text.slice(0, MAX_CHARS), flags: EPHEMERAL } };
    await this.#api.request('POST', `/interactions/${id}/${encodeURIComponent(token)}/callback`, anything, { body, signal });
  }

  async react({ to, platformId = '' }: IncomingMessage, emoji: string | null, signal: AbortSignal): Promise<void> {
    const path = `/channels/${to}/messages/${platformId}/reactions`;
    if (emoji === null) await this.#api.request('DELETE', `${path}/${encodeURIComponent(WORKING_EMOJI)}/@me`, anything, { signal });
    else await this.#api.request('PUT', `${path}/${encodeURIComponent(emoji)}/@me`, anything, { signal });
  }

  async typing({ to }: IncomingMessage, signal: AbortSignal): Promise<void> {
    await this.#api.request('POST', `/channels/${to}/typing`, anything, { signal });
  }

  close(): void {
    this.#connection?.close();
    this.#news.wake();
  }

  /** Continues the session, or begins a new one and fetches the messages of the time between. */
  async #connect(signal: AbortSignal): Promise<void> {
    try {
      return await this.#open(signal);
    } catch (error) {
      if (!(error instanceof SessionEndedError)) throw error;
    }
    await sleep(this.#deps.clock, NEW_SESSION_PAUSE_MS, signal);
    await this.#open(signal);
  }

  async #open(signal: AbortSignal): Promise<void> {
    const { token, clock, openSocket, readsAllMessages } = this.#deps;
    if (this.#connection) this.#session = this.#connection.session;
    // Its server may be gone.
    if (this.#failedResumes >= MAX_FAILED_RESUMES) this.#session = undefined;
    const session = this.#session;
    const url = session ? '' : await this.#findGateway(signal);
    const connection = new DiscordConnection({
      ...{ url, session, token, clock, openSocket },
      intents: readsAllMessages ? INTENTS | MESSAGE_CONTENT_INTENT : INTENTS,
      onDispatch: (type, data) => this.#onDispatch(type, data),
      onEnd: () => this.#news.wake(),
    });
    this.#connection = connection;
    try {
      await connection.waitUntilReady(signal);
    } catch (error) {
      connection.close();
      if (session) this.#failedResumes++;
      throw error;
    }
    this.#failedResumes = 0;
    if (!session) this.#messages.push(...((await this.#missed?.fetch(clock.now(), signal)) ?? []));
  }

  async #findGateway(signal: AbortSignal): Promise<string> {
    const { url, session_start_limit: limit } = await this.#api.request('GET', '/gateway/bot', gatewayInfo, { signal });
    if (limit && limit.remaining <= 0)
      throw new PlatformError('Discord allows no more connections for now.', { retryAfterMs: Math.max(1000, limit.reset_after) });
    return url.replace(/\/+$/, '');
  }

  #onDispatch(type: string, data: unknown): void {
    switch (type) {
      case 'READY':
        this.#self = readyEvent.safeParse(data).data?.user.id ?? this.#self;
        return;
      case 'MESSAGE_CREATE':
      case 'MESSAGE_UPDATE': {
        const message = discordMessage.safeParse(data).data;
        // Discord also sends updates for previews of links.
        if (!message || (type === 'MESSAGE_UPDATE' && typeof message.edited_timestamp !== 'string')) return;
        this.#messages.push(message);
        return this.#news.wake();
      }
      case 'MESSAGE_DELETE': {
        const { data: deleted } = deletedMessage.safeParse(data);
        if (!deleted) return;
        this.#deleted.push({ to: deleted.channel_id, platformId: deleted.id });
        return this.#news.wake();
      }
      case 'INTERACTION_CREATE': {
        const found = toButtonPress(data);
        if (!found) return;
        this.#presses.push(found.press);
        this.#pressTokens.set(found.press.id, found.token);
        const [oldest] = this.#pressTokens.keys();
        if (this.#pressTokens.size > MAX_PRESSES && oldest !== undefined) this.#pressTokens.delete(oldest);
        return this.#news.wake();
      }
      case 'GUILD_CREATE': {
        const { channels = [], threads = [] } = guild.safeParse(data).data ?? {};
        for (const { id, name } of channels) this.#channels.set(id, { name });
        for (const { id, name, parent_id } of threads) this.#channels.set(id, { name, parent: parent_id ?? undefined });
        return;
      }
      case 'THREAD_CREATE':
        for (const { id, name, parent_id } of channelList.parse([data])) this.#channels.set(id, { name, parent: parent_id ?? undefined });
    }
  }

  /** Resolves when there is something to report, or the connection has ended. */
  async #waitForNews(signal: AbortSignal): Promise<void> {
    if (this.#messages.length + this.#deleted.length + this.#presses.length > 0) return;
    await this.#news.wait(signal);
  }

  /** The channel of a post: a private chat if the id is a person's. */
  async #resolve(to: string, signal: AbortSignal): Promise<string> {
    if (!snowflake.safeParse(to).success) throw new PlatformError('The recipient is not a Discord ID.', { refused: true, isUnsent: true });
    const known = this.#channels.has(to) ? to : this.#directChannels.get(to);
    if (known !== undefined) return known;
    try {
      const { id } = await this.#api.request('POST', '/users/@me/channels', directChannel, { body: { recipient_id: to }, signal });
      this.#directChannels.set(to, id);
      return id;
    } catch (error) {
      // The id of a channel.
      if (error instanceof PlatformError && (error.status === 400 || error.status === 404)) return to;
      throw error;
    }
  }

  /** Sends a piece. For a few minutes Discord recognizes one that it already has by its number. */
  async #sendPiece(channel: string, piece: string, part: string, more: object, signal: AbortSignal): Promise<string> {
    const nonce = (await sha256(piece)).slice(0, NONCE_CHARS);
    const body = {
      content: part,
      nonce,
      enforce_nonce: true,
      flags: SUPPRESS_EMBEDS,
      allowed_mentions: { parse: [], replied_user: true },
      ...more,
    };
    return (await this.#api.request('POST', `/channels/${channel}/messages`, sentMessage, { body, signal })).id;
  }

  /** Looks for a piece among the messages after another one. */
  async #findPiece(channel: string, part: string, after: string | undefined, signal: AbortSignal): Promise<string | null> {
    if (this.#self === '') throw new PlatformError('Discord is not connected yet.');
    const path = `/channels/${channel}/messages?limit=100${after === undefined ? '' : `&after=${after}`}`;
    const found = await this.#api.request('GET', path, z.array(discordMessage.nullable().catch(null)), { signal });
    return found.find((message) => message?.author.id === this.#self && message.content.trim() === part.trim())?.id ?? null;
  }

  async #uploadFile(channel: string, { filename: name = 'file', mimeType, data }: FilePart, signal: AbortSignal): Promise<void> {
    const file = { name, mimeType, bytes: fromBase64(data) };
    const body = { attachments: [{ id: 0, filename: name }], allowed_mentions: { parse: [] } };
    await this.#api.request('POST', `/channels/${channel}/messages`, sentMessage, { body, file, signal, timeoutMs: UPLOAD_TIMEOUT_MS });
  }
}

/** The only reaction that the account uses. */
const WORKING_EMOJI = '👀';

const toComponents = (buttons: readonly Button[] | undefined): object =>
  buttons && buttons.length > 0
    ? {
        components: [
          {
            type: 1,
            components: buttons.slice(0, 5).map(({ label, value }) => ({ type: 2, style: 2, label: label.slice(0, 80), custom_id: value })),
          },
        ],
      }
    : {};

function parseSession(text = ''): DiscordSession | undefined {
  if (text === '') return undefined;
  try {
    return storedSession.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
