import { fromBase64 } from '#shared/base64.ts';
import { z } from '#shared/rpc/zod.ts';
import { sleep } from '#shared/async/watchdog.ts';
import type { IncomingFile, IncomingMessage, PendingMessage } from '../../../storage/records/channel-state.ts';
import type {
  ButtonPress,
  ChannelAdapter,
  DeletedMessage,
  FilePart,
  PollContext,
  PollResult,
  Post,
  SendContext,
  SentReceipt,
} from '../channel-adapter.ts';
import { getHelpText } from '../chat-commands.ts';
import { PlatformError } from '../platform-request.ts';
import { PollWait } from '../poll-wait.ts';
import { ReplyCodes } from '../reply-codes.ts';
import { splitText } from '../split-text.ts';
import { SignalApi, type SignalApiDeps } from './signal-api.ts';
import { parsePlatformId, parseSignalEvent, toGroupRecipient } from './signal-messages.ts';

/** Clients show longer messages only in part. */
const MAX_CHARS = 2000;
const MAX_FILE_BYTES = 15 * 1024 * 1024;
/** Age of a stream after which it is opened again: a dead one looks like a quiet one. */
const MAX_STREAM_MS = 30 * 60_000;
const GROUP_PREFIX = toGroupRecipient('');
const WORKING_EMOJI = '👀';

const sendResult = z.object({
  timestamp: z.number(),
  results: z.array(z.object({ type: z.string() })).catch([]),
});
const attachmentData = z.object({ data: z.string() });
const anything = z.unknown().optional();

/** Signal, by the daemon of signal-cli, which is linked to an account. */
export class SignalAdapter implements ChannelAdapter {
  readonly name = 'Signal';
  readonly minRetryMs = 5_000;
  readonly help = getHelpText();
  readonly #deps: SignalApiDeps;
  readonly #api: SignalApi;
  readonly #news: PollWait;
  readonly #messages: IncomingMessage[] = [];
  readonly #deleted: DeletedMessage[] = [];
  readonly #receipts: SentReceipt[] = [];
  #stream: AbortController | undefined;
  #codes: ReplyCodes | undefined;
  #openedAt = 0;
  /** The last event that was received: the next stream continues after it. */
  #lastEventId: string | undefined;

  constructor(deps: SignalApiDeps) {
    this.#deps = deps;
    this.#api = new SignalApi(deps);
    this.#news = new PollWait(deps.clock);
  }

  async poll({ cursors, signal }: PollContext): Promise<PollResult> {
    const { clock, account } = this.#deps;
    if (!/^\+\d{5,20}$/.test(account))
      throw new PlatformError('channels.signal.account is not a phone number such as +491701234567.', { isUnsent: true });
    // Events that an earlier host has received, but not stored, are sent again.
    this.#lastEventId ??= cursors['event'];
    const codes = (this.#codes ??= new ReplyCodes(cursors['codes']));
    if (this.#stream && clock.now() - this.#openedAt < MAX_STREAM_MS) await this.#waitForNews(signal);
    else await this.#open(signal);
    const [received, deleted, receipts] = [this.#messages.splice(0), this.#deleted.splice(0), this.#receipts.splice(0)];
    const presses = received.flatMap((message) => codes.readPress(message) ?? []);
    return {
      ...{ messages: received.filter((message) => !codes.readPress(message)), presses, deleted, receipts, nextMs: 0 },
      cursors: {
        ...(received.length + deleted.length > 0 && this.#lastEventId !== undefined ? { event: this.#lastEventId } : {}),
        ...(codes.toText() === (cursors['codes'] ?? '') ? {} : { codes: codes.toText() }),
      },
    };
  }

  split(text: string): string[] {
    return splitText(text, MAX_CHARS);
  }

  send(message: PendingMessage, part: string, { sent, signal }: SendContext): Promise<string> {
    const { timestamp, author } = parsePlatformId(message.platformId ?? '');
    const isQuoted = message.isGroup === true && sent.length === 0 && author !== '';
    const quote = isQuoted ? { quoteTimestamp: timestamp, quoteAuthor: author, quoteMessage: message.text.slice(0, 200) } : {};
    return this.#send(message.to, { message: part, ...quote }, signal);
  }

  post({ to, buttons = [] }: Post, part: string, { signal }: SendContext): Promise<string> {
    const message = [part, ...(this.#codes ??= new ReplyCodes()).add(buttons)].join('\n');
    return this.#send(to, { message }, signal);
  }

  async answerPress({ user }: ButtonPress, text: string, signal: AbortSignal): Promise<void> {
    await this.#send(user.id, { message: text }, signal);
  }

  async sendFile({ to }: PendingMessage, file: FilePart, signal: AbortSignal): Promise<void> {
    await this.#sendFile(to, file, signal);
  }

  async postFile({ to }: Post, file: FilePart, signal: AbortSignal): Promise<void> {
    await this.#sendFile(to, file, signal);
  }

  async fetchFile(
    { id: source, mimeType }: IncomingFile,
    signal: AbortSignal,
  ): Promise<{ bytes: Uint8Array<ArrayBuffer>; mimeType: string }> {
    const [id, to] = z.tuple([z.string(), z.string()]).parse(JSON.parse(source));
    const { data } = await this.#api.call('getAttachment', { id, ...toRecipient(to) }, attachmentData, signal);
    const bytes = fromBase64(data);
    if (bytes.length > MAX_FILE_BYTES) throw new PlatformError('The file is larger than 15 MB.', { refused: true });
    return { bytes, mimeType };
  }

  async edit(to: string, sentId: string, text: string, signal: AbortSignal): Promise<void> {
    await this.#send(to, { message: text.slice(0, MAX_CHARS), editTimestamp: Number(sentId) }, signal);
  }

  async react({ to, platformId = '' }: IncomingMessage, emoji: string | null, signal: AbortSignal): Promise<void> {
    const { timestamp: targetTimestamp, author: targetAuthor } = parsePlatformId(platformId);
    const reaction = { emoji: emoji ?? WORKING_EMOJI, targetAuthor, targetTimestamp, remove: emoji === null };
    await this.#api.call('sendReaction', { ...reaction, ...toRecipient(to) }, anything, signal);
  }

  async typing({ to }: IncomingMessage, signal: AbortSignal): Promise<void> {
    await this.#api.call('sendTyping', toRecipient(to), anything, signal);
  }

  close(): void {
    this.#stream?.abort();
    this.#news.wake();
  }

  async #open(signal: AbortSignal): Promise<void> {
    const { clock, account } = this.#deps;
    this.#stream?.abort();
    this.#stream = undefined;
    const stream = new AbortController();
    const onEvent = (event: unknown, id: string | undefined): void => {
      if (stream.signal.aborted) return;
      this.#lastEventId = id ?? this.#lastEventId;
      const news = parseSignalEvent(event, account, clock.now());
      if (!news) return;
      if (news.message) this.#messages.push(news.message);
      if (news.deleted) this.#deleted.push(news.deleted);
      this.#receipts.push(...(news.receipts ?? []));
      this.#news.wake();
    };
    const onEnd = (): void => {
      if (this.#stream === stream) this.#stream = undefined;
      this.#news.wake();
    };
    await this.#api.subscribe({ lastEventId: this.#lastEventId, onEvent, onEnd }, AbortSignal.any([signal, stream.signal]));
    this.#stream = stream;
    this.#openedAt = clock.now();
  }

  async #waitForNews(signal: AbortSignal): Promise<void> {
    if (this.#messages.length + this.#deleted.length + this.#receipts.length > 0) return;
    await this.#news.wait(signal);
    // A daemon that ends each stream at once is not asked all the time.
    if (!this.#stream && this.#deps.clock.now() - this.#openedAt < this.minRetryMs) await sleep(this.#deps.clock, this.minRetryMs, signal);
  }

  /** Sends a message; resolves with the time that Signal knows it by. */
  async #send(to: string, content: Record<string, unknown>, signal: AbortSignal): Promise<string> {
    const { timestamp, results } = await this.#api.call('send', { ...content, ...toRecipient(to) }, sendResult, signal);
    const failed = results.length > 0 && results.every(({ type }) => type !== 'SUCCESS') ? results[0] : undefined;
    if (failed)
      throw new PlatformError(`Signal did not take the message (${failed.type.slice(0, 50)}).`, {
        isUnsent: failed.type !== 'NETWORK_FAILURE',
        refused: failed.type !== 'NETWORK_FAILURE' && failed.type !== 'RATE_LIMIT_FAILURE',
      });
    return `${timestamp}`;
  }

  async #sendFile(to: string, { filename = 'file', mimeType, data }: FilePart, signal: AbortSignal): Promise<void> {
    const attachment = `data:${mimeType};filename=${encodeURIComponent(filename)};base64,${data}`;
    await this.#send(to, { attachments: [attachment] }, signal);
  }
}

/** The parameters of signal-cli for a chat: a group, a phone number or an account id. */
function toRecipient(to: string): Record<string, unknown> {
  if (to.startsWith(GROUP_PREFIX)) return { groupId: to.slice(GROUP_PREFIX.length) };
  if (!/^(\+\d{5,20}|[0-9a-f-]{36})$/i.test(to))
    throw new PlatformError('The recipient is not a Signal number or account ID.', { isUnsent: true, refused: true });
  return { recipient: [to] };
}
