import { fromBase64 } from '#shared/base64.ts';
import { z } from '#shared/rpc/zod.ts';
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
import { MissedMessages } from './missed-messages.ts';
import { SlackApi, type SlackApiDeps } from './slack-api.ts';
import { SlackConnection, type SlackEnvelope } from './slack-connection.ts';
import { parseEvent, slackId, type SlackMessage, timestamp, toButtonPress, toIncomingMessage } from './slack-messages.ts';
import { escapeText, toMrkdwn } from './slack-text.ts';

/** Slack shows longer messages only in part, and cuts those of over 40,000 characters. */
const MAX_CHARS = 4000;
const MAX_SECTION_CHARS = 3000;
const MAX_FILE_BYTES = 20 * 1024 * 1024;
const UPLOAD_TIMEOUT_MS = 120_000;
/** Slack repeats an envelope that is not acknowledged within three seconds. */
const ACKNOWLEDGE_MS = 2_500;
/** Number of names of people and channels that are remembered. */
const MAX_NAMES = 1000;
const HISTORY_PAGE_SIZE = 200;
const MAX_HISTORY_PAGES = 5;
/** Difference that is assumed between Slack's clock and this one. */
const CLOCK_SKEW_S = 120;
/** Type of the metadata of the account's messages, by which a piece that may have been sent is found again. */
const METADATA_TYPE = 'perch_message';
const EMOJI_NAMES: Readonly<Record<string, string>> = { '👀': 'eyes' };

const identity = z.object({ user_id: slackId });
const socketAddress = z.object({ url: z.url({ protocol: /^wss?$/ }) });
const sentMessage = z.object({ ts: timestamp });
const openedChannel = z.object({ channel: z.object({ id: slackId }) });
const userInfo = z.object({
  user: z.object({ real_name: z.string().optional(), profile: z.object({ display_name: z.string().optional() }).optional() }),
});
const channelInfo = z.object({ channel: z.object({ name: z.string().optional() }) });
const uploadAddress = z.object({ upload_url: z.url({ protocol: /^https?$/ }), file_id: z.string() });
const anything = z.unknown();
const historyPage = z.object({
  messages: z.array(
    z
      .object({
        ts: timestamp,
        user: z.string().optional(),
        text: z.string().catch(''),
        metadata: z
          .object({ event_payload: z.object({ id: z.string().optional() }).optional() })
          .optional()
          .catch(undefined),
      })
      .nullable()
      .catch(null),
  ),
  response_metadata: z.object({ next_cursor: z.string().optional() }).optional().catch(undefined),
});

interface SlackAdapterDeps extends SlackApiDeps {
  openSocket?(url: string): WebSocket;
}

/** Slack, by socket mode for events and its Web API for the rest: needs no public address. */
export class SlackAdapter implements ChannelAdapter {
  readonly name = 'Slack';
  readonly minRetryMs = 2_000;
  readonly confirmsPosts = true;
  readonly help = getHelpText();
  readonly #deps: Required<SlackAdapterDeps>;
  readonly #api: SlackApi;
  readonly #news: PollWait;
  readonly #userNames = new Map<string, string | undefined>();
  readonly #channelNames = new Map<string, string | undefined>();
  readonly #directChannels = new Map<string, string>();
  #messages: SlackMessage[] = [];
  #deleted: DeletedMessage[] = [];
  #presses: ButtonPress[] = [];
  /** Acknowledges the envelopes that have arrived since the last poll, and those that it returned. */
  #arrived: (() => void)[] = [];
  #returned: (() => void)[] = [];
  #self = '';
  #connection: SlackConnection | undefined;
  #missed: MissedMessages | undefined;
  /** Whether messages may have been written while there was no connection. */
  #hasGap = true;

  constructor(deps: SlackAdapterDeps) {
    this.#deps = { openSocket: (url) => new WebSocket(url), ...deps };
    this.#api = new SlackApi(deps);
    this.#news = new PollWait(deps.clock);
  }

  async poll({ cursors, signal }: PollContext): Promise<PollResult> {
    // By now the messages of the last poll are stored.
    for (const acknowledge of this.#returned.splice(0)) acknowledge();
    if (this.#self === '') this.#self = (await this.#api.call('auth.test', identity, { signal })).user_id;
    // The positions of another account are of no use.
    this.#missed ??= new MissedMessages(this.#api, cursors['self'] === this.#self ? cursors['last'] : undefined);
    if (!this.#connection || this.#connection.isReplaceable) await this.#connect(signal);
    else if (!this.#hasGap) await this.#waitForNews(signal);
    if (this.#hasGap) this.#messages.push(...(await this.#missed.fetch(this.#deps.clock.now(), signal)));
    this.#hasGap = false;
    const [received, deleted, presses] = [this.#messages, this.#deleted, this.#presses];
    [this.#messages, this.#deleted, this.#presses] = [[], [], []];
    this.#returned.push(...this.#arrived.splice(0));
    const messages = new Map<string, IncomingMessage>();
    for (const source of received) {
      const message = await toIncomingMessage(source, {
        ...{ self: this.#self, now: this.#deps.clock.now() },
        getUserName: (id) => this.#getUserName(id, signal),
        getChannelName: (id) => this.#getChannelName(id, signal),
      });
      if (!message) continue;
      // A mention comes twice: as a message, and as a mention.
      const before = messages.get(message.id);
      messages.set(message.id, before?.isMention ? before : message);
      if (message.isGroup !== true || message.isMention) this.#missed.note(source);
    }
    return {
      ...{ messages: [...messages.values()], deleted, presses, nextMs: 0 },
      cursors: { self: this.#self, last: this.#missed.toText() },
    };
  }

  split(text: string): string[] {
    return splitText(text, MAX_CHARS, (piece) => escapeText(piece).length);
  }

  send({ id, to, thread }: PendingMessage, part: string, { sent, signal }: SendContext): Promise<string> {
    return this.#sendPiece({ channel: to, thread }, `${id}/${sent.length}`, part, undefined, signal);
  }

  findSent({ id, to, thread, at }: PendingMessage, part: string, { sent, signal }: SendContext): Promise<string | null> {
    return this.#findPiece({ channel: to, thread }, `${id}/${sent.length}`, part, at, signal);
  }

  async post(post: Post, part: string, { sent, signal }: SendContext): Promise<string> {
    return this.#sendPiece(await this.#resolve(post, signal), `${post.id}/${sent.length}`, part, post.buttons, signal);
  }

  async findPosted(post: Post, part: string, { sent, signal }: SendContext): Promise<string | null> {
    return this.#findPiece(await this.#resolve(post, signal), `${post.id}/${sent.length}`, part, post.createdAt, signal);
  }

  sendFile({ to, thread }: PendingMessage, file: FilePart, signal: AbortSignal): Promise<void> {
    return this.#uploadFile({ channel: to, thread }, file, signal);
  }

  async postFile(post: Post, file: FilePart, signal: AbortSignal): Promise<void> {
    return this.#uploadFile(await this.#resolve(post, signal), file, signal);
  }

  fetchFile({ id }: IncomingFile, signal: AbortSignal): Promise<{ bytes: Uint8Array<ArrayBuffer>; mimeType: string }> {
    return this.#api.download(id, MAX_FILE_BYTES, signal);
  }

  async edit(to: string, sentId: string, text: string, signal: AbortSignal): Promise<void> {
    const { channel } = await this.#resolve({ to }, signal);
    const args = { channel, ts: sentId, text: toMrkdwn(text).slice(0, MAX_CHARS), blocks: [] };
    await this.#api.call('chat.update', anything, { args, signal });
  }

  async answerPress({ conversation, user }: ButtonPress, text: string, signal: AbortSignal): Promise<void> {
    const args = { channel: conversation, user: user.id, text: escapeText(text) };
    await this.#api.call('chat.postEphemeral', anything, { args, signal });
  }

  async react({ to, platformId = '' }: IncomingMessage, emoji: string | null, signal: AbortSignal): Promise<void> {
    const name = emoji === null ? EMOJI_NAMES['👀'] : EMOJI_NAMES[emoji];
    if (name === undefined) return;
    const args = { channel: to, timestamp: platformId, name };
    await this.#api.call(emoji === null ? 'reactions.remove' : 'reactions.add', anything, { args, signal });
  }

  close(): void {
    this.#connection?.close();
    this.#news.wake();
  }

  /** Opens a connection. One that Slack is about to end is closed after that, so that nothing is missed. */
  async #connect(signal: AbortSignal): Promise<void> {
    const { clock, openSocket, apiBase } = this.#deps;
    const { url } = await this.#api.call('apps.connections.open', socketAddress, { isApp: true, signal });
    if (url.startsWith('ws:') && !apiBase.startsWith('http:')) throw new PlatformError('Slack named an address without encryption.');
    const connection = new SlackConnection({
      ...{ url, clock, openSocket },
      onEnvelope: (envelope) => this.#onEnvelope(envelope),
      onEnd: () => this.#news.wake(),
    });
    try {
      await connection.waitUntilReady(signal);
    } catch (error) {
      connection.close();
      throw error;
    }
    if (this.#connection?.hasEnded !== false) this.#hasGap = true;
    this.#connection?.close();
    this.#connection = connection;
  }

  #onEnvelope({ type, payload, acknowledge }: SlackEnvelope): void {
    const event = type === 'events_api' ? parseEvent(payload) : undefined;
    const press = type === 'interactive' ? toButtonPress(payload) : undefined;
    if (!event && !press) return acknowledge();
    if (press) this.#presses.push(press);
    else if (event && 'message' in event) this.#messages.push(event.message);
    else if (event) this.#deleted.push(event.deleted);
    const cancel = this.#deps.clock.after(ACKNOWLEDGE_MS, acknowledge);
    this.#arrived.push(() => {
      cancel();
      acknowledge();
    });
    this.#news.wake();
  }

  /** Resolves when there is something to report, or a new connection is needed. */
  async #waitForNews(signal: AbortSignal): Promise<void> {
    if (this.#messages.length + this.#presses.length + this.#deleted.length > 0) return;
    await this.#news.wait(signal);
  }

  /** The chat of a post: a private one if the id is a person's. */
  async #resolve({ to, thread }: Pick<Post, 'to' | 'thread'>, signal: AbortSignal): Promise<Place> {
    if (!slackId.safeParse(to).success) throw new PlatformError('The recipient is not a Slack ID.', { refused: true, isUnsent: true });
    if (!/^[UW]/.test(to)) return { channel: to, thread };
    let channel = this.#directChannels.get(to);
    if (channel === undefined) {
      ({ id: channel } = (await this.#api.call('conversations.open', openedChannel, { args: { users: to }, signal })).channel);
      this.#directChannels.set(to, channel);
    }
    return { channel, thread };
  }

  async #sendPiece(
    { channel, thread }: Place,
    piece: string,
    part: string,
    buttons: readonly Button[] | undefined,
    signal: AbortSignal,
  ): Promise<string> {
    const text = toMrkdwn(part) || escapeText(part);
    const args = {
      ...{ channel, text, thread_ts: thread, unfurl_links: false, unfurl_media: false },
      metadata: { event_type: METADATA_TYPE, event_payload: { id: piece } },
      ...(buttons && buttons.length > 0 ? { blocks: toBlocks(text, buttons) } : {}),
    };
    return (await this.#api.call('chat.postMessage', sentMessage, { args, signal })).ts;
  }

  /** Looks for a piece among the messages since a time, by its id, or by its text if the app may not read ids. */
  async #findPiece({ channel, thread }: Place, piece: string, part: string, since: number, signal: AbortSignal): Promise<string | null> {
    const text = toMrkdwn(part);
    const [method, chat] = thread === undefined ? ['conversations.history', {}] : ['conversations.replies', { ts: thread }];
    const oldest = (since / 1000 - CLOCK_SKEW_S).toFixed(6);
    for (let page = 0, cursor: string | undefined; page < MAX_HISTORY_PAGES; page++) {
      const args = { ...chat, channel, oldest, include_all_metadata: true, limit: HISTORY_PAGE_SIZE, cursor };
      const found = await this.#api.call(method, historyPage, { args, signal });
      const own = found.messages.filter((message) => message?.user === this.#self);
      const match = own.find((message) =>
        message?.metadata ? message.metadata.event_payload?.id === piece : message?.text.trim() === text,
      );
      if (match) return match.ts;
      cursor = found.response_metadata?.next_cursor;
      if (!cursor) return null;
    }
    throw new PlatformError('Too many messages were written since to look for one.');
  }

  async #uploadFile({ channel, thread }: Place, { filename = 'file', data }: FilePart, signal: AbortSignal): Promise<void> {
    const bytes = fromBase64(data);
    const address = { args: { filename, length: bytes.length }, signal };
    const { upload_url, file_id } = await this.#api.call('files.getUploadURLExternal', uploadAddress, address);
    await this.#api.upload(upload_url, bytes, signal, UPLOAD_TIMEOUT_MS);
    const args = { files: [{ id: file_id, title: filename }], channel_id: channel, thread_ts: thread };
    await this.#api.call('files.completeUploadExternal', anything, { args, signal });
  }

  #getUserName(id: string, signal: AbortSignal): Promise<string | undefined> {
    return this.#getName(this.#userNames, id, signal, async () => {
      const { real_name, profile } = (await this.#api.call('users.info', userInfo, { args: { user: id }, signal })).user;
      return profile?.display_name || real_name;
    });
  }

  #getChannelName(id: string, signal: AbortSignal): Promise<string | undefined> {
    return this.#getName(
      this.#channelNames,
      id,
      signal,
      async () => (await this.#api.call('conversations.info', channelInfo, { args: { channel: id }, signal })).channel.name,
    );
  }

  /** A name that is asked for once; undefined if it cannot be found out. */
  async #getName(
    names: Map<string, string | undefined>,
    id: string,
    signal: AbortSignal,
    fetchName: () => Promise<string | undefined>,
  ): Promise<string | undefined> {
    if (names.has(id)) return names.get(id);
    let name: string | undefined;
    try {
      name = (await fetchName())?.slice(0, 100);
    } catch (error) {
      signal.throwIfAborted();
      // A message is worth more than the name of its sender.
      if (!(error instanceof PlatformError)) throw error;
      if (error.retryAfterMs !== undefined) return undefined;
    }
    names.set(id, name);
    const [oldest] = names.keys();
    if (names.size > MAX_NAMES && oldest !== undefined) names.delete(oldest);
    return name;
  }
}

interface Place {
  channel: string;
  thread?: string | undefined;
}

const toBlocks = (text: string, buttons: readonly Button[]): object[] => [
  ...splitText(text, MAX_SECTION_CHARS).map((section) => ({ type: 'section', text: { type: 'mrkdwn', text: section } })),
  {
    type: 'actions',
    elements: buttons.map(({ label, value }, index) => ({
      ...{ type: 'button', action_id: `perch_${index}`, value },
      text: { type: 'plain_text', text: label.slice(0, 75) },
    })),
  },
];
