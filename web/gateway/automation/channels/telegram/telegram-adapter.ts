import { fromBase64 } from '#shared/base64.ts';
import { z } from '#shared/rpc/zod.ts';
import type { ButtonPress, ChannelAdapter, PollResult, PollContext, Post, SendContext } from '../channel-adapter.ts';
import { getHelpText } from '../chat-commands.ts';
import { splitText } from '../split-text.ts';
import type { MediaFile } from '../media/channel-media.ts';
import type { IncomingFile, PendingMessage, IncomingMessage } from '../../../storage/records/channel-state.ts';
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

const fileInfo = z.object({
  file_id: z.string().max(500),
  file_name: z.string().optional(),
  mime_type: z.string().optional(),
  file_size: z.number().optional(),
});

const message = z.object({
  message_id: z.number().int(),
  date: z.number(),
  chat: z.object({ id: z.number().int(), type: z.string(), title: z.string().optional() }),
  from: user.optional(),
  text: z.string().optional(),
  caption: z.string().optional(),
  /** The same picture in several sizes, the largest last. */
  photo: z.array(fileInfo).optional(),
  voice: fileInfo.optional(),
  audio: fileInfo.optional(),
  document: fileInfo.optional(),
  /** `forward_date`: sent by servers with Bot API 6 or older. */
  forward_origin: z.unknown().optional(),
  forward_date: z.unknown().optional(),
  /** The bot whose content the sender chose to send. */
  via_bot: z.unknown().optional(),
  reply_to_message: z.object({ from: user.optional() }).optional(),
});

/** A press of a button (https://core.telegram.org/bots/api#callbackquery). */
const callbackQuery = z.object({
  id: z.string(),
  from: user,
  /** Missing or inaccessible if the message with the button is too old. */
  message: z.object({ message_id: z.number().int(), chat: z.object({ id: z.number().int(), type: z.string() }) }).optional(),
  data: z.string().optional(),
});

/** An update with unreadable content is skipped, so that it cannot block the others forever. */
const update = z.object({
  update_id: z.number().int(),
  message: message.optional().catch(undefined),
  callback_query: callbackQuery.optional().catch(undefined),
});

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
/** Maximum length of the text after a press. */
const MAX_ANSWER_CHARS = 200;
/** Duration of a long poll, in seconds. */
const LONG_POLL_S = 50;
const REPEAT_PAUSE_MS = 1_000;
/** Maximum number of updates per poll. */
const MAX_UPDATES = 100;
/** Time limit for an upload. Bots may upload 50 MB; a reply has far less. */
const UPLOAD_TIMEOUT_MS = 120_000;

/** Maximum size of a file that bots can download. */
const MAX_DOWNLOAD_BYTES = 20 * 1024 * 1024;

const filePath = z.object({ file_path: z.string().optional() });
const sentMessage = z.object({ message_id: z.number().int() });

/** Telegram, by long polling (https://core.telegram.org/bots/api#getupdates): needs no public address. */
export class TelegramAdapter implements ChannelAdapter {
  readonly name = 'Telegram';
  readonly minRetryMs = 2_000;
  readonly help = getHelpText('/');
  readonly confirmsPosts = true;
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
      { ...(offset > 0 ? { offset } : {}), limit: MAX_UPDATES, timeout, allowed_updates: ['message', 'callback_query'] },
      z.array(update).max(MAX_UPDATES),
      { signal, timeoutMs: (timeout + 20) * 1000 },
    );
    this.#isHealthy = true;
    // After a week without updates their numbers may restart lower.
    const next = updates.length === 0 ? offset : Math.max(...updates.map(({ update_id }) => update_id + 1));
    return {
      messages: updates.flatMap((telegramUpdate) => toIncomingMessage(telegramUpdate, self) ?? []),
      presses: updates.flatMap(({ callback_query }) => (callback_query && toButtonPress(callback_query)) ?? []),
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

  async post({ to, thread, buttons = [] }: Post, part: string, { signal }: SendContext): Promise<string> {
    // One button a row: labels stay readable on a phone.
    const keyboard = buttons.map(({ label, value }) => [{ text: label, callback_data: value }]);
    const { message_id: id } = await this.#api.call(
      'sendMessage',
      {
        // An id of digits, or the @name of a public group or channel.
        chat_id: /^-?\d+$/.test(to) ? Number(to) : to,
        text: part,
        link_preview_options: { is_disabled: true },
        ...(thread === undefined ? {} : { message_thread_id: Number(thread) }),
        ...(keyboard.length > 0 ? { reply_markup: { inline_keyboard: keyboard } } : {}),
      },
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

  async sendVoice(message: PendingMessage, { name, mimeType, bytes }: MediaFile, signal: AbortSignal): Promise<void> {
    const { chat_id } = parseTarget(message);
    const voice = { field: 'voice', name, mimeType, bytes };
    await this.#api.upload('sendVoice', { chat_id: `${chat_id}` }, voice, sentMessage, { signal, timeoutMs: UPLOAD_TIMEOUT_MS });
  }

  async fetchFile({ id, size = 0 }: IncomingFile, signal: AbortSignal): Promise<{ bytes: Uint8Array<ArrayBuffer>; mimeType: string }> {
    const tooLarge = new PlatformError('Telegram gives bots files of at most 20 MB.', { refused: true });
    if (size > MAX_DOWNLOAD_BYTES) throw tooLarge;
    const { file_path } = await this.#api.call('getFile', { file_id: id }, filePath, { signal });
    if (file_path === undefined) throw tooLarge;
    return this.#api.download(file_path, { signal, maxBytes: MAX_DOWNLOAD_BYTES, timeoutMs: UPLOAD_TIMEOUT_MS });
  }

  async edit(to: string, sentId: string, text: string, signal: AbortSignal): Promise<void> {
    const [part = ''] = this.split(text);
    const target = { chat_id: parseTarget({ to }).chat_id, message_id: Number(sentId) };
    // Without `reply_markup` the buttons go.
    await this.#api.call('editMessageText', { ...target, text: part, link_preview_options: { is_disabled: true } }, z.unknown(), {
      signal,
    });
  }

  async answerPress({ id }: ButtonPress, text: string, signal: AbortSignal): Promise<void> {
    await this.#api.call('answerCallbackQuery', { callback_query_id: id, text: text.slice(0, MAX_ANSWER_CHARS) }, z.unknown(), { signal });
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

/** The files of a message. Telegram says what a picture or recording is, so their types need no check. */
function toFiles({ photo = [], voice, audio, document }: NonNullable<Update['message']>): IncomingFile[] {
  const toFile = (kind: IncomingFile['kind'], file: z.output<typeof fileInfo> | undefined, name: string, type: string): IncomingFile[] =>
    file
      ? [
          {
            ...{ id: file.file_id, kind, name: file.file_name ?? name, mimeType: file.mime_type ?? type },
            ...(file.file_size === undefined ? {} : { size: file.file_size }),
          },
        ]
      : [];
  const isPicture = /^image\/(?:jpeg|png|webp|gif)$/.test(document?.mime_type ?? '');
  return [
    ...toFile('image', photo.at(-1), 'photo.jpg', 'image/jpeg'),
    ...toFile('audio', voice, 'voice.ogg', 'audio/ogg'),
    ...toFile('audio', audio, 'audio.mp3', 'audio/mpeg'),
    ...toFile(isPicture ? 'image' : 'document', document, 'document', 'application/octet-stream'),
  ];
}

/** A press of a button; undefined if its message is unknown. Clients can send any `data`: its reader must check it. */
function toButtonPress({ id, from, message, data }: z.output<typeof callbackQuery>): ButtonPress | undefined {
  if (!message || data === undefined) return undefined;
  return {
    id,
    user: { id: `${from.id}`, name: from.username ?? '' },
    conversation: `${message.chat.id}`,
    isPrivate: message.chat.type === 'private' && message.chat.id === from.id,
    value: data,
    postId: `${message.message_id}`,
  };
}

/** The message in an update; undefined if there is none. In groups the bot is addressed by name, by a command, or by a reply to it. */
function toIncomingMessage({ update_id, message }: Update, { id, username }: Bot): IncomingMessage | undefined {
  if (!message?.from || message.from.is_bot === true) return undefined;
  const { chat, from } = message;
  const isGroup = chat.type === 'group' || chat.type === 'supergroup';
  if (!isGroup && chat.type !== 'private') return undefined;
  const content = message.text ?? message.caption;
  const files = toFiles(message);
  if (content === undefined && isGroup && files.length === 0) return undefined;
  const text = content ?? (files.length > 0 ? '' : NO_TEXT);
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
    text: isGroup ? `${senderName}: ${plain}`.trim() : plain,
    isPublic: false,
    isGroup,
    ...(isGroup ? { room: `${chat.id}`, isMention } : {}),
    to: `${chat.id}/${message.message_id}`,
    title: `Telegram: ${chat.title ?? senderName}`,
    at: message.date * 1000,
    ...([message.forward_origin, message.forward_date, message.via_bot].some((mark) => mark !== undefined) ? { isForwarded: true } : {}),
    ...(command ? { command } : {}),
    ...(files.length > 0 ? { files } : {}),
    ...(message.voice ? { isVoice: true } : {}),
  };
}
