import { z } from '#shared/rpc/zod.ts';
import type { IncomingFile, IncomingMessage } from '../../../storage/records/channel-state.ts';
import type { ButtonPress, DeletedMessage } from '../channel-adapter.ts';
import { parseChatCommand } from '../chat-commands.ts';
import { toPlainText } from './slack-text.ts';

export const slackId = z.string().regex(/^[A-Z0-9]{1,32}$/);
/** Id of a message within its chat: seconds since 1970 with six decimals. */
export const timestamp = z.string().regex(/^\d{1,12}\.\d{1,6}$/);

const slackFile = z.object({
  name: z.string().nullish(),
  mimetype: z.string().catch('application/octet-stream'),
  size: z.number().int().nonnegative().optional().catch(undefined),
  subtype: z.string().optional().catch(undefined),
  url_private: z.string().optional(),
  url_private_download: z.string().optional(),
});

export const slackMessage = z.object({
  subtype: z.string().optional(),
  channel: slackId,
  channel_type: z.string().optional(),
  user: slackId.optional(),
  bot_id: z.string().nullish(),
  text: z.string().catch(''),
  ts: timestamp,
  thread_ts: timestamp.optional(),
  parent_user_id: z.string().optional(),
  edited: z.object({ ts: z.string() }).optional().catch(undefined),
  files: z.array(slackFile.nullable().catch(null)).catch([]),
  /** A shared message is an attachment. */
  attachments: z.array(z.object({ is_share: z.boolean().optional(), text: z.string().catch('') }).catch({ text: '' })).catch([]),
});
export type SlackMessage = z.infer<typeof slackMessage> & {
  /** Whether the message comes from an event about mentions. */
  isMention?: boolean;
  isEdit?: boolean;
};

const messageEvent = z.object({ type: z.enum(['message', 'app_mention']), subtype: z.string().optional(), channel: slackId });
const changedEvent = z.object({
  channel_type: z.string().optional(),
  message: z.unknown().optional(),
  previous_message: z
    .object({ text: z.string().catch('') })
    .optional()
    .catch(undefined),
});
const deletedEvent = z.object({ deleted_ts: timestamp });
const eventPayload = z.object({ event: z.unknown().optional() });

const pressPayload = z.object({
  type: z.literal('block_actions'),
  user: z.object({ id: slackId, name: z.string().optional(), username: z.string().optional() }),
  channel: z.object({ id: slackId }),
  message: z.object({ ts: timestamp }),
  actions: z.array(z.object({ type: z.string(), value: z.string(), action_ts: z.string() })).min(1),
});

/** Kinds of messages that people write. */
const WRITTEN_SUBTYPES = [undefined, 'file_share', 'thread_broadcast', 'me_message'];

/** A message, or the deletion of one, from an envelope of type `events_api`; undefined if it is about something else. */
export function parseEvent(payload: unknown): { message: SlackMessage } | { deleted: DeletedMessage } | undefined {
  const source = eventPayload.safeParse(payload).data?.event;
  const { data: event } = messageEvent.safeParse(source);
  if (!event) return undefined;
  const { type, subtype, channel } = event;
  if (subtype === 'message_deleted') {
    const { data } = deletedEvent.safeParse(source);
    return data && { deleted: { to: channel, platformId: data.deleted_ts } };
  }
  if (subtype === 'message_changed') {
    const { data: changed } = changedEvent.safeParse(source);
    const { channel_type } = changed ?? {};
    const { data: message } = slackMessage.safeParse({ ...Object(changed?.message), channel, channel_type });
    // Slack also reports previews of links as changes.
    if (!message?.edited || message.text === changed?.previous_message?.text) return undefined;
    return { message: { ...message, isEdit: true } };
  }
  const { data: message } = slackMessage.safeParse(source);
  return message && { message: type === 'app_mention' ? { ...message, isMention: true } : message };
}

interface ReadContext {
  self: string;
  now: number;
  getUserName(id: string): Promise<string | undefined>;
  getChannelName(id: string): Promise<string | undefined>;
}

/** A message of a person; undefined if it is none. */
export async function toIncomingMessage(source: SlackMessage, context: ReadContext): Promise<IncomingMessage | undefined> {
  const { self, now, getUserName, getChannelName } = context;
  const { channel, user, bot_id, ts, thread_ts, isEdit = false, edited } = source;
  if (user === undefined || user === self || bot_id || !WRITTEN_SUBTYPES.includes(source.subtype)) return undefined;
  const isGroup = source.channel_type === undefined ? !isDirectChannel(channel) : source.channel_type !== 'im';
  const shared = source.attachments.filter(({ is_share }) => is_share === true);
  const words = await readText([source.text, ...shared.map(({ text }) => text)].join('\n'), self, getUserName);
  const files = source.files.flatMap((file) => (file ? toFile(file) : []));
  if (words === '' && files.length === 0) return undefined;
  const command = parseChatCommand(words);
  const isMention =
    source.isMention === true || command !== undefined || source.parent_user_id === self || source.text.includes(`<@${self}>`);
  // In a channel the answer goes into a thread of the message.
  const thread = thread_ts ?? (isGroup ? ts : undefined);
  const name = (await getUserName(user)) ?? user;
  return {
    id: isEdit ? `edit:${channel}:${ts}:${edited?.ts ?? ''}` : `message:${channel}:${ts}`,
    conversation: thread === undefined ? channel : `${channel}-${thread.replace('.', '-')}`,
    // Anybody can choose another one's name: the id belongs to it.
    user: { id: user, name: name === user ? user : `${name} (${user})` },
    text: isGroup && words !== '' && command === undefined ? `${name}: ${words}` : words,
    isPublic: false,
    to: channel,
    title: `Slack: ${isGroup ? `#${(await getChannelName(channel)) ?? channel}` : name}`,
    at: Math.min(Number(ts) * 1000, now),
    platformId: ts,
    isGroup,
    ...(isGroup ? { room: channel, isMention } : {}),
    ...(thread === undefined ? {} : { thread }),
    ...(isEdit ? { isEdit } : {}),
    ...(files.length > 0 ? { files } : {}),
    ...(source.files.some((file) => file?.subtype === 'slack_audio') ? { isVoice: true } : {}),
    ...(shared.length > 0 ? { isForwarded: true } : {}),
    ...(command === undefined ? {} : { command }),
  };
}

/** Whether a chat is between one person and the account. */
export const isDirectChannel = (channel: string): boolean => channel.startsWith('D');

/** Number of mentioned people whose names are looked up. */
const MAX_NAMES = 10;

async function readText(text: string, self: string, getUserName: ReadContext['getUserName']): Promise<string> {
  const own = new RegExp(`^\\s*<@${self}(?:\\|[^>]*)?>[\\s:,]*`);
  const ids = [...new Set(Array.from(text.matchAll(/<@([A-Z0-9]+)/g), ([, id = '']) => id))].slice(0, MAX_NAMES);
  const names = new Map(await Promise.all(ids.map(async (id) => [id, await getUserName(id)] as const)));
  return toPlainText(text.replace(own, ''), (id) => names.get(id));
}

function toFile({ name, mimetype, size, url_private_download, url_private }: z.infer<typeof slackFile>): IncomingFile[] {
  const url = url_private_download ?? url_private;
  // A deleted file has no address.
  if (url === undefined) return [];
  const kind = mimetype.startsWith('image/') ? 'image' : mimetype.startsWith('audio/') ? 'audio' : 'document';
  return [{ id: url, kind, name: name ?? 'file', mimeType: mimetype, ...(size === undefined ? {} : { size }) }];
}

/** A press of a button, from an envelope of type `interactive`; undefined if it is about something else. */
export function toButtonPress(payload: unknown): ButtonPress | undefined {
  const { data } = pressPayload.safeParse(payload);
  const [action] = data?.actions ?? [];
  if (!data || action?.type !== 'button') return undefined;
  const { user, channel, message } = data;
  return {
    id: `${message.ts}:${action.action_ts}:${user.id}`,
    user: { id: user.id, name: user.name ?? user.username ?? user.id },
    conversation: channel.id,
    isPrivate: isDirectChannel(channel.id),
    value: action.value,
    postId: message.ts,
  };
}
