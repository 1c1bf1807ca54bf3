import { fromBase64 } from '#shared/base64.ts';
import { z } from '#shared/rpc/zod.ts';
import type { ChannelAdapter, PollResult, PollContext, SendContext } from '../channel-adapter.ts';
import { splitText } from '../split-text.ts';
import type { PendingMessage, IncomingMessage } from '../../../storage/records/channel-state.ts';
import { PlatformError } from '../platform-request.ts';
import { TelegramApi, type TelegramApiDeps } from './telegram-api.ts';

const bot = z.object({ id: z.number().int(), username: z.string() });

type Bot = z.infer<typeof bot>;

const user = z.object({
  id: z.number().int(),
  is_bot: z.boolean().optional(),
  username: z.string().optional(),
  first_name: z.string().optional(),
});

const message = z.object({
  message_id: z.number().int(),
  date: z.number(),
  chat: z.object({ id: z.number().int(), type: z.string(), title: z.string().optional() }),
  from: user.optional(),
  text: z.string().optional(),
  caption: z.string().optional(),
  /** `forward_date`: sent by servers with Bot API 6 or older. */
  forward_origin: z.unknown().optional(),
  forward_date: z.unknown().optional(),
  /** The bot whose content the sender chose to send. */
  via_bot: z.unknown().optional(),
  reply_to_message: z.object({ from: user.optional() }).optional(),
});

/** An update with an unreadable message is skipped, so that it cannot block the others forever. */
const update = z.object({ update_id: z.number().int(), message: message.optional().catch(undefined) });

type Update = z.infer<typeof update>;

/** Commands in Telegram's format: `/new` or `/new@bot`. */
const COMMAND = /^\/(start|help|new|reset|stop)(?:@(\w+))?(?:\s|$)/i;

const COMMANDS: Record<string, NonNullable<IncomingMessage['command']>> = {
  start: 'help',
  help: 'help',
  new: 'new',
  reset: 'new',
  stop: 'stop',
};

const NO_TEXT = '[The message has no text. Its content can’t be shown here.]';

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

/** The message in an update; undefined if there is none. In groups the bot is addressed by name, by a command, or by a reply to it. */
function toIncomingMessage({ update_id, message }: Update, { id, username }: Bot): IncomingMessage | undefined {
  if (!message?.from || message.from.is_bot === true) return undefined;
  const { chat, from } = message;
  const isGroup = chat.type === 'group' || chat.type === 'supergroup';
  if (!isGroup && chat.type !== 'private') return undefined;
  const content = message.text ?? message.caption;
  if (content === undefined && isGroup) return undefined;
  const text = content ?? NO_TEXT;
  const [, word = '', addressed] = COMMAND.exec(text) ?? [];
  if (addressed !== undefined && addressed.toLowerCase() !== username.toLowerCase()) return undefined;
  const name = new RegExp(`@${username}\\b`, 'i');
  const isMention = word !== '' || name.test(text) || message.reply_to_message?.from?.id === id;
  const senderName = from.username ?? from.first_name ?? '';
  const command = COMMANDS[word.toLowerCase()];
  const plain = isGroup ? text.replace(name, '').trim() : text;
  return {
    id: `update:${update_id}`,
    conversation: `${chat.id}`,
    // Display names can be chosen freely: only the username identifies a person.
    user: { id: `${from.id}`, name: from.username ?? '' },
    text: isGroup ? `${senderName}: ${plain}` : plain,
    isPublic: false,
    isGroup,
    ...(isGroup ? { room: `${chat.id}`, isMention } : {}),
    to: `${chat.id}/${message.message_id}`,
    title: `Telegram: ${chat.title ?? senderName}`,
    at: message.date * 1000,
    ...([message.forward_origin, message.forward_date, message.via_bot].some((mark) => mark !== undefined) ? { isForwarded: true } : {}),
    ...(command ? { command } : {}),
  };
}
