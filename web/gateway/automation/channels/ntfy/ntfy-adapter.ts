import { fromBase64 } from '#shared/base64.ts';
import { sha256 } from '#shared/sha256.ts';
import { sleep } from '#shared/async/watchdog.ts';
import type { IncomingFile, IncomingMessage, PendingMessage } from '../../../storage/records/channel-state.ts';
import type { ChannelAdapter, FilePart, PollContext, PollResult, Post, SendContext } from '../channel-adapter.ts';
import { getHelpText, parseChatCommand } from '../chat-commands.ts';
import { PlatformError } from '../platform-request.ts';
import { PollWait } from '../poll-wait.ts';
import { splitText } from '../split-text.ts';
import { NtfyApi, type NtfyApiDeps, type NtfyEvent, parseNtfyEvent, TOPIC } from './ntfy-api.ts';

/** A server turns longer messages into files. */
const MAX_TEXT_BYTES = 4000;
const MAX_FILE_BYTES = 15 * 1024 * 1024;
const UPLOAD_TIMEOUT_MS = 120_000;
/** Age of a subscription after which it is opened again: a browser cannot see whether it is dead. */
const MAX_SUBSCRIPTION_MS = 5 * 60_000;
/** Interval of checks of a server that is only written to. */
const CHECK_MS = 5 * 60_000;
const MAX_EVENT_CHARS = 256 * 1024;
/** Difference that is assumed between the server's clock and this one, in seconds. */
const CLOCK_SKEW_S = 120;

const encoder = new TextEncoder();

interface NtfyAdapterDeps extends NtfyApiDeps {
  /** Topic that Perch writes to. */
  topic: string;
  /** Topic that Perch reads; empty for none. */
  inboxTopic: string;
  openSocket?(url: string): WebSocket;
}

/** ntfy: notifications to a topic, and messages from another one. Works without a bridge. */
export class NtfyAdapter implements ChannelAdapter {
  readonly name = 'ntfy';
  readonly minRetryMs = 5_000;
  /** The server's response is the message as it is in the topic. */
  readonly confirmsPosts = true;
  readonly help = getHelpText('!', 'Publish');
  readonly #deps: Required<NtfyAdapterDeps>;
  readonly #api: NtfyApi;
  readonly #news: PollWait;
  #events: NtfyEvent[] = [];
  #socket: WebSocket | undefined;
  #openedAt = 0;

  constructor(deps: NtfyAdapterDeps) {
    this.#deps = { openSocket: (url) => new WebSocket(url), ...deps };
    this.#api = new NtfyApi(deps);
    this.#news = new PollWait(deps.clock);
  }

  async poll({ cursors, signal }: PollContext): Promise<PollResult> {
    const { topic, inboxTopic, clock } = this.#deps;
    if (topic === '') throw new PlatformError('channels.ntfy.topic is not set.', { isUnsent: true });
    for (const name of inboxTopic === '' ? [topic] : [topic, inboxTopic]) requireTopic(name);
    if (topic === inboxTopic)
      throw new PlatformError('channels.ntfy.inboxTopic must differ from channels.ntfy.topic: Perch would answer itself.');
    if (inboxTopic === '') {
      await this.#api.checkHealth(signal);
      return { messages: [], cursors: {}, nextMs: CHECK_MS };
    }
    // Messages from before the channel was turned on, or of another topic, are not answered.
    const since = (cursors['topic'] === inboxTopic ? Number(cursors['since']) : 0) || Math.floor(clock.now() / 1000);
    const isOpen = this.#socket !== undefined && clock.now() - this.#openedAt < MAX_SUBSCRIPTION_MS;
    if (isOpen) await this.#waitForNews(signal);
    else await this.#subscribe(inboxTopic, since, signal);
    const events = this.#events.splice(0);
    return {
      messages: events.flatMap((event) => this.#toMessage(event) ?? []),
      cursors: { topic: inboxTopic, since: `${Math.max(since, ...events.map(({ time }) => time))}` },
      nextMs: 0,
    };
  }

  split(text: string): string[] {
    return splitText(text, MAX_TEXT_BYTES, (piece) => encoder.encode(piece).length);
  }

  send({ id, to }: PendingMessage, part: string, { sent, signal }: SendContext): Promise<string> {
    return this.#publish(to, `${id}/${sent.length}`, part, signal);
  }

  findSent({ id, to, at }: PendingMessage, part: string, { sent, signal }: SendContext): Promise<string | null> {
    return this.#find(to, `${id}/${sent.length}`, part, at, signal);
  }

  post({ id, to }: Post, part: string, { sent, signal }: SendContext): Promise<string> {
    return this.#publish(to, `${id}/${sent.length}`, part, signal);
  }

  findPosted({ id, to, createdAt }: Post, part: string, { sent, signal }: SendContext): Promise<string | null> {
    return this.#find(to, `${id}/${sent.length}`, part, createdAt, signal);
  }

  sendFile({ to }: PendingMessage, file: FilePart, signal: AbortSignal): Promise<void> {
    return this.#publishFile(to, file, signal);
  }

  postFile({ to }: Post, file: FilePart, signal: AbortSignal): Promise<void> {
    return this.#publishFile(to, file, signal);
  }

  fetchFile({ id }: IncomingFile, signal: AbortSignal): Promise<{ bytes: Uint8Array<ArrayBuffer>; mimeType: string }> {
    return this.#api.download(id, MAX_FILE_BYTES, signal);
  }

  close(): void {
    this.#closeSocket();
    this.#news.wake();
  }

  /** Fetches what was written since a time, which also shows whether the token is valid, and subscribes to the rest. */
  async #subscribe(topic: string, since: number, signal: AbortSignal): Promise<void> {
    const { clock, openSocket } = this.#deps;
    this.#closeSocket();
    this.#events.push(...(await this.#api.list(topic, since, signal)));
    const socket = openSocket(this.#api.getSocketUrl(topic, since));
    this.#socket = socket;
    this.#openedAt = clock.now();
    const end = (): void => {
      if (this.#socket === socket) this.#socket = undefined;
      this.#news.wake();
    };
    socket.addEventListener('close', end);
    socket.addEventListener('error', end);
    socket.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
      const event = typeof data === 'string' && data.length <= MAX_EVENT_CHARS ? parseNtfyEvent(data) : undefined;
      if (!event || this.#socket !== socket) return;
      this.#events.push(event);
      this.#news.wake();
    });
  }

  #closeSocket(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close();
  }

  async #waitForNews(signal: AbortSignal): Promise<void> {
    if (this.#events.length > 0) return;
    await this.#news.wait(signal);
    // A server that ends each subscription at once is not asked all the time.
    if (!this.#socket && this.#deps.clock.now() - this.#openedAt < this.minRetryMs) await sleep(this.#deps.clock, this.minRetryMs, signal);
  }

  #toMessage({ id, time, title, message, attachment }: NtfyEvent): IncomingMessage | undefined {
    const { inboxTopic, topic, clock } = this.#deps;
    const file = attachment && this.#api.isOwnFile(attachment.url) ? attachment : undefined;
    const link = attachment && !file ? `[${attachment.name}: ${attachment.url}]` : undefined;
    // The server writes a text of its own if a file has none.
    const words = file && /^You received a file: /.test(message) ? '' : message.trim();
    const text = [title, words, link].filter(Boolean).join('\n\n');
    if (text === '' && !file) return undefined;
    const command = parseChatCommand(text);
    return {
      ...{ id: `message:${id}`, conversation: inboxTopic, user: { id: inboxTopic, name: inboxTopic }, text },
      ...{ isPublic: false, to: topic, title: `ntfy: ${inboxTopic}`, at: Math.min(time * 1000, clock.now()), platformId: id },
      ...(file ? { files: [toFile(file)] } : {}),
      ...(command === undefined ? {} : { command }),
    };
  }

  async #publish(topic: string, piece: string, message: string, signal: AbortSignal): Promise<string> {
    requireTopic(topic);
    return this.#api.publish({ topic, message, sequence_id: await toSequenceId(piece) }, signal);
  }

  /** Looks for a piece among the messages since a time, by its sequence id, or by its text on servers without these. */
  async #find(topic: string, piece: string, text: string, since: number, signal: AbortSignal): Promise<string | null> {
    requireTopic(topic);
    const sequenceId = await toSequenceId(piece);
    const events = await this.#api.list(topic, since / 1000 - CLOCK_SKEW_S, signal);
    const isPiece = ({ id, sequence_id = id, message }: NtfyEvent): boolean =>
      sequence_id === sequenceId || (sequence_id === id && message.trim() === text.trim());
    return events.find(isPiece)?.id ?? null;
  }

  async #publishFile(topic: string, { filename = 'file', data }: FilePart, signal: AbortSignal): Promise<void> {
    requireTopic(topic);
    await this.#api.publishFile(topic, filename, fromBase64(data), signal, UPLOAD_TIMEOUT_MS);
  }
}

function requireTopic(topic: string): void {
  if (!TOPIC.test(topic)) throw new PlatformError('A topic has up to 64 letters, digits, “_” and “-”.', { isUnsent: true, refused: true });
}

const toSequenceId = async (piece: string): Promise<string> => `perch-${(await sha256(piece)).slice(0, 32)}`;

function toFile({ url, name, type, size }: NonNullable<NtfyEvent['attachment']>): IncomingFile {
  const kind = type.startsWith('image/') ? 'image' : type.startsWith('audio/') ? 'audio' : 'document';
  return { id: url, kind, name, mimeType: type, ...(size === undefined ? {} : { size }) };
}
