import { fromBase64 } from '#shared/base64.ts';
import { z } from '#shared/rpc/zod.ts';
import type { IncomingFile, IncomingMessage, PendingMessage } from '../../../storage/records/channel-state.ts';
import { isEqualConstantTime } from '../../../system/pairing-code.ts';
import { parseJson } from '../../../providers/upstream-http.ts';
import { computeHmac, toHex } from '../../hooks/hmac.ts';
import type { ButtonPress, ChannelAdapter, FilePart, PollContext, PollResult, Post, SendContext } from '../channel-adapter.ts';
import { getHelpText } from '../chat-commands.ts';
import { renderChatMarkup } from '../chat-markup.ts';
import type { MediaFile } from '../media/channel-media.ts';
import { PlatformError } from '../platform-request.ts';
import { PollWait } from '../poll-wait.ts';
import { splitText } from '../split-text.ts';
import { WhatsAppApi, type WhatsAppApiDeps } from './whatsapp-api.ts';
import { parseNotification, userId, type WhatsAppNews } from './whatsapp-messages.ts';

const MAX_CHARS = 4000;
/** A message with buttons has less room, and three buttons. */
const MAX_BUTTON_TEXT = 1024;
const MAX_BUTTONS = 3;
const MAX_BUTTON_LABEL = 20;
const MAX_FILE_BYTES = 20 * 1024 * 1024;
const POLL_MS = 60_000;
/** Interval of checks of the token. */
const CHECK_MS = 15 * 60_000;
/** Time in which a call of the webhook must be stored; WhatsApp repeats it otherwise. */
const STORE_TIMEOUT_MS = 15_000;
/** Number of sent pieces whose ids are remembered from receipts. */
const MAX_PIECES = 500;

const sentMessage = z.object({ messages: z.array(z.object({ id: z.string() })).min(1) });
const anything = z.unknown();

interface WhatsAppAdapterDeps extends WhatsAppApiDeps {
  /** Proves that a call of the webhook is WhatsApp's. */
  appSecret: string;
  /** Proves that the webhook is being set up by the owner. */
  verifyToken: string;
}

/** WhatsApp by the Cloud API: messages arrive by a webhook at `/hooks/channels/whatsapp`. */
export class WhatsAppAdapter implements ChannelAdapter {
  readonly name = 'WhatsApp';
  readonly minRetryMs = 5_000;
  readonly help = getHelpText();
  readonly #deps: WhatsAppAdapterDeps;
  readonly #api: WhatsAppApi;
  readonly #news: PollWait;
  readonly #pieces = new Map<string, string>();
  #arrived: Call[] = [];
  /** Calls that the last poll returned. */
  #returned: Call[] = [];
  #checkedAt = -Infinity;

  constructor(deps: WhatsAppAdapterDeps) {
    this.#deps = deps;
    this.#api = new WhatsAppApi(deps);
    this.#news = new PollWait(deps.clock);
  }

  async poll({ signal }: PollContext): Promise<PollResult> {
    const { clock } = this.#deps;
    // By now the messages of the last poll are stored.
    for (const { settle } of this.#returned.splice(0)) settle(true);
    if (clock.now() - this.#checkedAt >= CHECK_MS) {
      await this.#api.check(signal);
      this.#checkedAt = clock.now();
    } else await this.#waitForNews(signal);
    this.#returned = this.#arrived.splice(0);
    const news = this.#returned.map((call) => call.news);
    return {
      messages: news.flatMap(({ messages }) => messages),
      presses: news.flatMap(({ presses }) => presses),
      receipts: news.flatMap(({ receipts }) => receipts),
      ...{ cursors: {}, nextMs: 0 },
    };
  }

  /** Answers a call of the webhook: one with messages once they are stored. */
  async receiveCall(request: Request): Promise<Response> {
    const url = new URL(request.url);
    if (request.method === 'GET') return this.#answerChallenge(url.searchParams);
    const body = new Uint8Array(await request.arrayBuffer());
    const expected = `sha256=${toHex(await computeHmac(this.#deps.appSecret, body))}`;
    if (!isEqualConstantTime(request.headers.get('x-hub-signature-256') ?? '', expected)) return respond(401, 'The signature is wrong.');
    const news = parseNotification(parseJson(new TextDecoder().decode(body)), this.#deps.phoneNumberId, this.#deps.clock.now());
    if (!news) return respond(400, 'The body is not a notification of WhatsApp.');
    for (const [piece, id] of news.pieces) this.#rememberPiece(piece, id);
    if (news.messages.length + news.presses.length + news.receipts.length === 0) return respond(200, '');
    return (await this.#store(news)) ? respond(200, '') : respond(503, 'The messages could not be stored. Try again later.');
  }

  split(text: string): string[] {
    return splitText(text, MAX_CHARS);
  }

  send({ id, to, platformId }: PendingMessage, part: string, { sent, signal }: SendContext): Promise<string> {
    const context = sent.length === 0 && platformId !== undefined ? { context: { message_id: platformId } } : {};
    return this.#sendPiece(to, `${id}/${sent.length}`, { ...toText(part), ...context }, signal);
  }

  /** The id of a piece as a receipt told it. WhatsApp cannot be asked: without a receipt it is not known. */
  async findSent({ id }: PendingMessage, _part: string, { sent }: SendContext): Promise<string | undefined> {
    return this.#pieces.get(`${id}/${sent.length}`);
  }

  async post({ id, to, buttons = [] }: Post, part: string, { sent, signal }: SendContext): Promise<string> {
    const piece = `${id}/${sent.length}`;
    if (buttons.length === 0) return this.#sendPiece(to, piece, toText(part), signal);
    const text = toMarkup(part);
    const isShort = text.length <= MAX_BUTTON_TEXT;
    if (!isShort) await this.#sendPiece(to, `${piece}/text`, toText(part), signal);
    const interactive = {
      ...{ type: 'button', body: { text: isShort ? text : 'Your decision:' } },
      action: {
        buttons: buttons.slice(0, MAX_BUTTONS).map(({ label, value }) => ({
          type: 'reply',
          reply: { id: value, title: label.slice(0, MAX_BUTTON_LABEL) },
        })),
      },
    };
    return this.#sendPiece(to, piece, { type: 'interactive', interactive }, signal).catch((error: unknown) => {
      // The text has been sent: sending all again would double it.
      if (isShort || !(error instanceof PlatformError)) throw error;
      throw new PlatformError(error.message, { cause: error, refused: error.refused });
    });
  }

  async findPosted({ id }: Post, _part: string, { sent }: SendContext): Promise<string | undefined> {
    return this.#pieces.get(`${id}/${sent.length}`);
  }

  sendFile({ to }: PendingMessage, file: FilePart, signal: AbortSignal): Promise<void> {
    return this.#sendFile(to, file, signal);
  }

  postFile({ to }: Post, file: FilePart, signal: AbortSignal): Promise<void> {
    return this.#sendFile(to, file, signal);
  }

  async sendVoice({ to }: PendingMessage, speech: MediaFile, signal: AbortSignal): Promise<void> {
    await this.#sendMedia(to, speech, signal);
  }

  fetchFile({ id }: IncomingFile, signal: AbortSignal): Promise<{ bytes: Uint8Array<ArrayBuffer>; mimeType: string }> {
    return this.#api.download(id, MAX_FILE_BYTES, signal);
  }

  async answerPress({ conversation }: ButtonPress, text: string, signal: AbortSignal): Promise<void> {
    await this.#api.post({ to: conversation, ...toText(text) }, sentMessage, signal);
  }

  async react({ to, platformId = '' }: IncomingMessage, emoji: string | null, signal: AbortSignal): Promise<void> {
    await this.#api.post({ to, type: 'reaction', reaction: { message_id: platformId, emoji: emoji ?? '' } }, anything, signal);
  }

  /** Also marks the message as read, since it is being answered now. */
  async typing({ platformId = '' }: IncomingMessage, signal: AbortSignal): Promise<void> {
    await this.#api.post({ status: 'read', message_id: platformId, typing_indicator: { type: 'text' } }, anything, signal);
  }

  close(): void {
    for (const { settle } of [...this.#arrived.splice(0), ...this.#returned.splice(0)]) settle(false);
    this.#news.wake();
  }

  /** Whether the news are stored: true with the poll after the one that returned them. */
  async #store(news: WhatsAppNews): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const cancel = this.#deps.clock.after(STORE_TIMEOUT_MS, () => resolve(false));
    this.#arrived.push({ news, settle: resolve });
    this.#news.wake();
    return promise.finally(cancel);
  }

  #answerChallenge(query: URLSearchParams): Response {
    const challenge = query.get('hub.challenge') ?? '';
    const isOwner = isEqualConstantTime(query.get('hub.verify_token') ?? '', this.#deps.verifyToken);
    if (query.get('hub.mode') !== 'subscribe' || !isOwner || !/^[\w-]{1,200}$/.test(challenge))
      return respond(403, 'The verify token is wrong.');
    return respond(200, challenge);
  }

  async #waitForNews(signal: AbortSignal): Promise<void> {
    if (this.#arrived.length > 0) return;
    await this.#news.wait(signal, POLL_MS);
  }

  async #sendPiece(to: string, piece: string, content: Record<string, unknown>, signal: AbortSignal): Promise<string> {
    if (!userId.safeParse(to).success)
      throw new PlatformError('The recipient is not a WhatsApp number.', { refused: true, isUnsent: true });
    // Receipts name the piece: they tell whether it was sent if the response is lost.
    const body = { recipient_type: 'individual', to, ...content, biz_opaque_callback_data: piece };
    const { messages } = await this.#api.post(body, sentMessage, signal);
    return messages[0]?.id ?? '';
  }

  #rememberPiece(piece: string, id: string): void {
    this.#pieces.set(piece, id);
    const [oldest] = this.#pieces.keys();
    if (this.#pieces.size > MAX_PIECES && oldest !== undefined) this.#pieces.delete(oldest);
  }

  #sendFile(to: string, { filename = 'file', mimeType, data }: FilePart, signal: AbortSignal): Promise<void> {
    return this.#sendMedia(to, { name: filename, mimeType, bytes: fromBase64(data) }, signal);
  }

  async #sendMedia(to: string, file: MediaFile, signal: AbortSignal): Promise<void> {
    const id = await this.#api.upload(file, signal);
    const type = /^image\/(png|jpeg)$/.test(file.mimeType)
      ? 'image'
      : /^audio\/(mpeg|aac|mp4|amr|ogg)$/.test(file.mimeType)
        ? 'audio'
        : 'document';
    const content = { id, ...(type === 'document' ? { filename: file.name } : {}) };
    await this.#api.post({ to, type, [type]: content }, sentMessage, signal);
  }
}

/** A call of the webhook that waits to be stored. */
interface Call {
  news: WhatsAppNews;
  settle(isStored: boolean): void;
}

const toMarkup = (text: string): string =>
  renderChatMarkup(text, {
    escape: (plain) => plain,
    toLink: (url, label) => (label === '' || label === url ? url : `${label} (${url})`),
  }) || text;

const toText = (text: string): Record<string, unknown> => ({ type: 'text', text: { body: toMarkup(text), preview_url: false } });

const respond = (status: number, text: string): Response =>
  new Response(text, {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', ...(status === 503 ? { 'retry-after': '30' } : {}) },
  });
