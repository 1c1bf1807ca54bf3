import { fromBase64 } from '#shared/base64.ts';
import { z } from '#shared/rpc/zod.ts';
import type { ChannelAdapter, PollResult, PollContext, SendContext } from '../channel-adapter.ts';
import { splitText } from '../split-text.ts';
import type { PendingMessage } from '../../../storage/records/channel-state.ts';
import { PlatformError } from '../platform-request.ts';
import { TelegramApi, type TelegramApiDeps } from './telegram-api.ts';
import { type Bot, bot, toIncomingMessage, update } from './updates.ts';

/** Maximum length of a message. */
const MAX_CHARS = 4096;
/** Duration of a long poll, in seconds. */
const LONG_POLL_S = 50;
const REPEAT_PAUSE_MS = 1_000;
/** Maximum number of updates per poll. */
const MAX_UPDATES = 100;
/** Time limit for an upload. Bots may upload 50 MB; a reply has far less. */
const UPLOAD_TIMEOUT_MS = 120_000;

const sentMessage = z.object({ message_id: z.number().int() });

/** Telegram, by long polling (https://core.telegram.org/bots/api#getupdates): needs no public address. */
export class TelegramAdapter implements ChannelAdapter {
  readonly name = 'Telegram';
  readonly minRetryMs = 2_000;
  readonly help = 'Hello! Send me a message and an agent replies. /new starts a new chat, /stop stops the current reply.';
  readonly #api: TelegramApi;
  #bot: Bot | undefined;
  /** Whether the last poll succeeded: the next one may wait for messages. */
  #isHealthy = false;

  constructor(deps: TelegramApiDeps) {
    this.#api = new TelegramApi(deps);
  }

  async poll({ cursors, signal }: PollContext): Promise<PollResult> {
    const isHealthy = this.#isHealthy;
    this.#isHealthy = false;
    const self = (this.#bot ??= await this.#api.call('getMe', {}, bot, { signal }));
    const offset = Number(cursors['updates'] ?? 0);
    // The first poll, and the one after a failure, does not wait, to report the status soon.
    const timeout = isHealthy ? LONG_POLL_S : 0;
    const updates = await this.#api.call(
      'getUpdates',
      { ...(offset > 0 ? { offset } : {}), limit: MAX_UPDATES, timeout, allowed_updates: ['message'] },
      z.array(update).max(MAX_UPDATES),
      { signal, timeoutMs: (timeout + 20) * 1000 },
    );
    this.#isHealthy = true;
    // After a week without updates their numbers may restart lower.
    const next = updates.length === 0 ? offset : Math.max(...updates.map(({ update_id }) => update_id + 1));
    return {
      messages: updates.flatMap((telegramUpdate) => toIncomingMessage(telegramUpdate, self) ?? []),
      cursors: next > 0 ? { updates: `${next}` } : {},
      // Avoids a busy loop with a server that does not wait, or repeats the same updates.
      nextMs: next === offset && isHealthy ? REPEAT_PAUSE_MS : 0,
    };
  }

  split(text: string): string[] {
    return splitText(text, MAX_CHARS);
  }

  async send(message: PendingMessage, part: string, { sent: before, signal }: SendContext): Promise<string> {
    const { chat_id, message_id } = parseTarget(message);
    // In a group the reply must refer to the message.
    const reply = before.length === 0 && chat_id < 0 ? { reply_parameters: { message_id, allow_sending_without_reply: true } } : {};
    const { message_id: id } = await this.#api.call(
      'sendMessage',
      { chat_id, text: part, link_preview_options: { is_disabled: true }, ...reply },
      sentMessage,
      { signal },
    );
    return `${id}`;
  }

  async sendFile(
    message: PendingMessage,
    file: Parameters<NonNullable<ChannelAdapter['sendFile']>>[1],
    signal: AbortSignal,
  ): Promise<void> {
    const { chat_id } = parseTarget(message);
    const { filename: name = 'file', mimeType, data } = file;
    await this.#api.upload(
      'sendDocument',
      { chat_id: `${chat_id}` },
      { field: 'document', name, mimeType, bytes: fromBase64(data) },
      sentMessage,
      { signal, timeoutMs: UPLOAD_TIMEOUT_MS },
    );
  }

  async typing(message: PendingMessage, signal: AbortSignal): Promise<void> {
    await this.#api.call('sendChatAction', { chat_id: parseTarget(message).chat_id, action: 'typing' }, z.unknown(), { signal });
  }
}

function parseTarget({ to }: Pick<PendingMessage, 'to'>): { chat_id: number; message_id: number } {
  const [chat_id = 0, message_id = 0] = to.split('/').map(Number);
  if (!Number.isSafeInteger(chat_id)) throw new PlatformError('The chat to reply in is unknown.', { refused: true });
  return { chat_id, message_id };
}
