import { fromBase64 } from '#shared/base64.ts';
import { z } from '#shared/rpc/zod.ts';
import type { ChannelAdapter, Look, LookContext, SentBefore } from '../adapter.ts';
import { splitText } from '../split-text.ts';
import type { PendingMessage } from '../state.ts';
import { PlatformError } from '../platform.ts';
import { TelegramApi, type TelegramApiDeps } from './api.ts';
import { type Bot, bot, incomingOf, update } from './updates.ts';

/** Maximum length of a message. */
const MOST_CHARS = 4096;
/** Duration of a long poll, in seconds. */
const LONG_POLL_S = 50;
const PAUSE_MS = 1_000;
/** Maximum number of updates per poll. */
const UPDATES = 100;
/** Time limit for an upload. Bots may upload 50 MB; a reply has far less. */
const UPLOAD_MS = 120_000;

const sent = z.object({ message_id: z.number().int() });

/** Telegram, by long polling (https://core.telegram.org/bots/api#getupdates): needs no public address. */
export class TelegramAdapter implements ChannelAdapter {
  readonly name = 'Telegram';
  readonly leastWaitMs = 2_000;
  readonly help = 'Hello! Send me a message and an agent replies. /new starts a new chat, /stop stops the current reply.';
  readonly #api: TelegramApi;
  #bot: Bot | undefined;
  /** Whether the last poll succeeded: the next one may wait for messages. */
  #isWell = false;

  constructor(deps: TelegramApiDeps) {
    this.#api = new TelegramApi(deps);
  }

  async look({ cursors, signal }: LookContext): Promise<Look> {
    const isWell = this.#isWell;
    this.#isWell = false;
    const self = (this.#bot ??= await this.#api.call('getMe', {}, bot, { signal }));
    const offset = Number(cursors['updates'] ?? 0);
    // The first poll, and the one after a failure, does not wait, to report the status soon.
    const timeout = isWell ? LONG_POLL_S : 0;
    const updates = await this.#api.call(
      'getUpdates',
      { ...(offset > 0 ? { offset } : {}), limit: UPDATES, timeout, allowed_updates: ['message'] },
      z.array(update).max(UPDATES),
      { signal, timeoutMs: (timeout + 20) * 1000 },
    );
    this.#isWell = true;
    // After a week without updates their numbers may restart lower.
    const next = updates.length === 0 ? offset : Math.max(...updates.map(({ update_id }) => update_id + 1));
    return {
      messages: updates.flatMap((each) => incomingOf(each, self) ?? []),
      cursors: next > 0 ? { updates: `${next}` } : {},
      // Avoids a busy loop with a server that does not wait, or repeats the same updates.
      nextMs: next === offset && isWell ? PAUSE_MS : 0,
    };
  }

  split(text: string): string[] {
    return splitText(text, MOST_CHARS);
  }

  async send(message: PendingMessage, part: string, { sent: before, signal }: SentBefore): Promise<string> {
    const { chat_id, message_id } = placeOf(message);
    // In a group the reply must refer to the message.
    const reply = before.length === 0 && chat_id < 0 ? { reply_parameters: { message_id, allow_sending_without_reply: true } } : {};
    const { message_id: id } = await this.#api.call(
      'sendMessage',
      { chat_id, text: part, link_preview_options: { is_disabled: true }, ...reply },
      sent,
      { signal },
    );
    return `${id}`;
  }

  async sendFile(
    message: PendingMessage,
    file: Parameters<NonNullable<ChannelAdapter['sendFile']>>[1],
    signal: AbortSignal,
  ): Promise<void> {
    const { chat_id } = placeOf(message);
    const { filename: name = 'file', mimeType, data } = file;
    await this.#api.upload(
      'sendDocument',
      { chat_id: `${chat_id}` },
      { field: 'document', name, mimeType, bytes: fromBase64(data) },
      sent,
      { signal, timeoutMs: UPLOAD_MS },
    );
  }

  async typing(message: PendingMessage, signal: AbortSignal): Promise<void> {
    await this.#api.call('sendChatAction', { chat_id: placeOf(message).chat_id, action: 'typing' }, z.unknown(), { signal });
  }
}

function placeOf({ to }: Pick<PendingMessage, 'to'>): { chat_id: number; message_id: number } {
  const [chat_id = 0, message_id = 0] = to.split('/').map(Number);
  if (!Number.isSafeInteger(chat_id)) throw new PlatformError('The chat to reply in is unknown.', { refused: true });
  return { chat_id, message_id };
}
