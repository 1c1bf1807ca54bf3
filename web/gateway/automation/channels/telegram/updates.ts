import { z } from '#shared/rpc/zod.ts';
import type { IncomingMessage } from '../../../storage/records/channel-state.ts';

export const bot = z.object({ id: z.number().int(), username: z.string() });
export type Bot = z.infer<typeof bot>;

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
export const update = z.object({ update_id: z.number().int(), message: message.optional().catch(undefined) });
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

/**
 * The message for the bot in an update; undefined if there is none. In groups the bot is addressed by name, by a command, or by a reply to
 * it.
 */
export function toIncomingMessage({ update_id, message }: Update, { id, username }: Bot): IncomingMessage | undefined {
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
  const isAddressed = !isGroup || word !== '' || name.test(text) || message.reply_to_message?.from?.id === id;
  if (!isAddressed) return undefined;
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
    to: `${chat.id}/${message.message_id}`,
    title: `Telegram: ${chat.title ?? senderName}`,
    at: message.date * 1000,
    ...([message.forward_origin, message.forward_date, message.via_bot].some((mark) => mark !== undefined) ? { isForwarded: true } : {}),
    ...(command ? { command } : {}),
  };
}
