import { z } from '#shared/rpc/zod.ts';
import type { IncomingFile, IncomingMessage } from '../../../storage/records/channel-state.ts';
import type { ButtonPress } from '../channel-adapter.ts';
import { parseChatCommand } from '../chat-commands.ts';

export const snowflake = z.string().regex(/^\d{1,20}$/);

const user = z.object({ id: snowflake, username: z.string().catch(''), global_name: z.string().nullish(), bot: z.boolean().optional() });

const attachment = z.object({
  filename: z.string().catch('file'),
  content_type: z.string().optional(),
  size: z.number().int().nonnegative().optional(),
  url: z.url(),
  /** Only of voice messages. */
  waveform: z.string().optional(),
});

export const discordMessage = z.object({
  id: snowflake,
  channel_id: snowflake,
  guild_id: snowflake.optional(),
  type: z.number().int().catch(0),
  author: user,
  webhook_id: snowflake.optional(),
  content: z.string().catch(''),
  timestamp: z.string().catch(''),
  edited_timestamp: z.string().nullish(),
  mentions: z.array(user).catch([]),
  attachments: z.array(attachment).catch([]),
  referenced_message: z.object({ author: user.optional() }).nullish().catch(undefined),
  /** A forwarded message has another one inside. */
  message_snapshots: z
    .array(z.object({ message: z.object({ content: z.string().catch('') }) }))
    .optional()
    .catch(undefined),
});
export type DiscordMessage = z.infer<typeof discordMessage>;

const interaction = z.object({
  id: snowflake,
  token: z.string(),
  type: z.number().int(),
  channel_id: snowflake,
  guild_id: snowflake.optional(),
  user: user.optional(),
  member: z.object({ user }).optional(),
  data: z.object({ custom_id: z.string() }).optional().catch(undefined),
  message: z.object({ id: snowflake }).optional().catch(undefined),
});

const MESSAGE_TYPES = [0, 19];
const COMPONENT_PRESS = 3;

/** Name of a channel, and for a thread the channel that it is in. */
export interface ChannelInfo {
  name: string;
  parent?: string | undefined;
}

interface ReadContext {
  self: string;
  now: number;
  getChannel(id: string): ChannelInfo | undefined;
}

/** A message of a person; undefined if it is none. */
export function toIncomingMessage(message: DiscordMessage, { self, now, getChannel }: ReadContext): IncomingMessage | undefined {
  const {
    id,
    channel_id,
    guild_id,
    type,
    author,
    webhook_id,
    mentions,
    attachments,
    referenced_message,
    message_snapshots,
    edited_timestamp,
  } = message;
  if (author.id === self || author.bot === true || webhook_id !== undefined || !MESSAGE_TYPES.includes(type)) return undefined;
  const isGroup = guild_id !== undefined;
  const channel = getChannel(channel_id);
  const forwarded = message_snapshots?.map(({ message: { content } }) => content).join('\n');
  const words = (forwarded ?? message.content).replace(new RegExp(`^\\s*<@!?${self}>[\\s:,]*`), '').trim();
  const command = parseChatCommand(words);
  const isMention = command !== undefined || mentions.some((each) => each.id === self) || referenced_message?.author?.id === self;
  const files = attachments.map(toFile);
  if (words === '' && files.length === 0) return undefined;
  const isEdit = typeof edited_timestamp === 'string';
  const sentAt = Date.parse(message.timestamp);
  const name = author.global_name ?? author.username;
  return {
    id: isEdit ? `edit:${id}:${edited_timestamp}` : `message:${id}`,
    conversation: channel_id,
    user: { id: author.id, name: author.username },
    text: isGroup && words !== '' && command === undefined ? `${name}: ${words}` : words,
    isPublic: false,
    to: channel_id,
    title: `Discord: ${isGroup ? `#${channel?.name ?? channel_id}` : name}`,
    at: Number.isFinite(sentAt) ? Math.min(sentAt, now) : now,
    platformId: id,
    isGroup,
    ...(isGroup ? { room: channel?.parent ?? channel_id, isMention } : {}),
    ...(isEdit ? { isEdit } : {}),
    ...(files.length > 0 ? { files } : {}),
    ...(attachments.some(({ waveform }) => waveform !== undefined) ? { isVoice: true } : {}),
    ...(forwarded === undefined ? {} : { isForwarded: true }),
    ...(command === undefined ? {} : { command }),
  };
}

function toFile({ filename, content_type: mimeType = 'application/octet-stream', size, url }: z.infer<typeof attachment>): IncomingFile {
  const kind = mimeType.startsWith('image/') ? 'image' : mimeType.startsWith('audio/') ? 'audio' : 'document';
  return { id: url, kind, name: filename, mimeType, ...(size === undefined ? {} : { size }) };
}

/** A press of a button with the token to answer it; undefined if the interaction is none. */
export function toButtonPress(source: unknown): { press: ButtonPress; token: string } | undefined {
  const { data } = interaction.safeParse(source);
  const person = data?.user ?? data?.member?.user;
  if (data?.type !== COMPONENT_PRESS || !data.data || !data.message || !person) return undefined;
  const press = {
    id: data.id,
    user: { id: person.id, name: person.username },
    conversation: data.channel_id,
    isPrivate: data.guild_id === undefined,
    value: data.data.custom_id,
    postId: data.message.id,
  };
  return { press, token: data.token };
}
