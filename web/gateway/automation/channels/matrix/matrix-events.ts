import { z } from '#shared/rpc/zod.ts';
import type { IncomingFile, IncomingMessage } from '../../../storage/records/channel-state.ts';
import { parseChatCommand } from '../chat-commands.ts';

const relation = z.object({
  rel_type: z.string().optional(),
  event_id: z.string().optional(),
  is_falling_back: z.boolean().optional(),
  'm.in_reply_to': z.object({ event_id: z.string() }).optional(),
});

const messageContent = z.object({
  msgtype: z.string().catch(''),
  body: z.string().catch(''),
  filename: z.string().optional(),
  format: z.string().optional(),
  formatted_body: z.string().optional().catch(undefined),
  url: z.string().optional(),
  info: z.object({ mimetype: z.string().optional(), size: z.number().int().nonnegative().optional() }).optional().catch(undefined),
  'm.mentions': z
    .object({ user_ids: z.array(z.string()).optional() })
    .optional()
    .catch(undefined),
  'm.relates_to': relation.optional().catch(undefined),
  'm.new_content': z.unknown().optional(),
  /** A voice message (MSC3245), as the common clients send it. */
  'org.matrix.msc3245.voice': z.unknown().optional(),
});
type MessageContent = z.infer<typeof messageContent>;

/** An unreadable event is skipped, so that it cannot block the others forever. */
export const matrixEvent = z
  .object({
    type: z.string(),
    event_id: z.string().catch(''),
    sender: z.string(),
    origin_server_ts: z.number().catch(0),
    state_key: z.string().optional(),
    content: z.record(z.string(), z.unknown()),
  })
  .nullable()
  .catch(null);
export type MatrixEvent = NonNullable<z.infer<typeof matrixEvent>>;

export const eventList = z.array(matrixEvent).transform((events) => events.filter((each) => each !== null));

const events = z.object({ events: eventList }).catch({ events: [] });
const joinedRoom = z.object({
  timeline: z.object({ events: eventList, limited: z.boolean().optional(), prev_batch: z.string().optional() }).catch({ events: [] }),
  ephemeral: events.optional(),
});
export type JoinedRoom = z.infer<typeof joinedRoom>;

export const syncResponse = z.object({
  next_batch: z.string().min(1),
  rooms: z
    .object({
      join: z.record(z.string(), joinedRoom).optional(),
      invite: z.record(z.string(), z.object({ invite_state: events })).optional(),
    })
    .optional(),
});

/** The events that are needed, at most `limit` of a room. */
export const createSyncFilter = (limit: number): string =>
  JSON.stringify({
    presence: { types: [] },
    account_data: { types: [] },
    room: {
      account_data: { types: [] },
      state: { types: [], lazy_load_members: true },
      ephemeral: { types: ['m.receipt'] },
      timeline: { types: ['m.room.message', 'm.room.encrypted', 'm.reaction', 'm.room.member', 'm.room.name'], limit },
    },
  });

/** Known facts about a room. */
export interface RoomInfo {
  name: string;
  /** Whether it has others than the account and one person. */
  isGroup: boolean;
  /** Display names of the members, by their ids; empty if they are too many. */
  members: ReadonlyMap<string, string>;
}

const ENCRYPTED_NOTICE =
  'This room is encrypted, and I can’t read encrypted messages. Please start a chat with me with encryption turned off.';

interface ReadContext {
  self: string;
  roomId: string;
  room: RoomInfo;
  now: number;
  /** Whether the account sent an event. */
  isOwn(eventId: string): boolean;
}

/** A message of a room for the agent; undefined if the event is none. */
export async function toIncomingMessage(source: MatrixEvent, context: ReadContext): Promise<IncomingMessage | undefined> {
  const { self, roomId, room, now } = context;
  const { sender, event_id: eventId, origin_server_ts, state_key } = source;
  if (sender === self || eventId === '' || state_key !== undefined) return undefined;
  const isEncrypted = source.type === 'm.room.encrypted';
  if (source.type !== 'm.room.message' && !isEncrypted) return undefined;
  const outer = messageContent.safeParse(source.content);
  if (!outer.success) return undefined;
  const related = outer.data['m.relates_to'];
  const isEdit = related?.rel_type === 'm.replace';
  const inner = isEdit ? messageContent.safeParse(outer.data['m.new_content']) : outer;
  if (!inner.success) return undefined;
  const content = inner.data;
  // A notice is a program's message, which programs must not answer.
  if (content.msgtype === 'm.notice' && !isEncrypted) return undefined;
  const files = toFiles(content);
  const words = toText(content, files.length > 0, related?.['m.in_reply_to'] !== undefined);
  if (words === '' && files.length === 0 && !isEncrypted) return undefined;
  const { isGroup } = room;
  const thread = related?.rel_type === 'm.thread' ? related.event_id : undefined;
  const senderName = room.members.get(sender) || sender;
  const selfName = room.members.get(self) ?? '';
  const text = isGroup ? removeMention(words, self, selfName) : words;
  const command = parseChatCommand(text);
  const mentioned = isMention(content, words, { ...context, selfName }) || isReplyToOwn(related, context);
  return {
    id: `event:${eventId}`,
    conversation: await toConversation(roomId, thread),
    user: { id: sender, name: sender },
    text: isGroup && text !== '' && command === undefined ? `${senderName}: ${text}` : text,
    isPublic: false,
    to: roomId,
    title: `Matrix: ${room.name || (isGroup ? roomId : senderName)}`,
    at: Math.min(origin_server_ts, now),
    platformId: isEdit ? (related.event_id ?? eventId) : eventId,
    isGroup,
    ...(isGroup ? { room: roomId, isMention: mentioned } : {}),
    ...(thread === undefined ? {} : { thread }),
    ...(isEdit ? { isEdit } : {}),
    ...(files.length > 0 ? { files } : {}),
    ...(content['org.matrix.msc3245.voice'] === undefined ? {} : { isVoice: true }),
    ...(command === undefined ? {} : { command }),
    ...(isEncrypted ? { notice: ENCRYPTED_NOTICE } : {}),
  };
}

/** Conversation of a room or of one of its threads: letters and digits, which an id of a room is not. */
async function toConversation(roomId: string, thread = ''): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(`${roomId}\n${thread}`));
  return Array.from(new Uint8Array(digest, 0, 16), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function toText({ body, filename }: MessageContent, isFile: boolean, isReply: boolean): string {
  // The text of a file is its name, unless both are given.
  if (isFile && (filename === undefined || filename === body)) return '';
  // Older clients quote the message that they reply to.
  return (isReply ? body.replace(/^(?:> .*\n)+\n?/, '') : body).trim();
}

const KINDS: Record<string, IncomingFile['kind']> = { 'm.image': 'image', 'm.audio': 'audio', 'm.file': 'document', 'm.video': 'document' };

function toFiles({ msgtype, url, body, filename, info }: MessageContent): IncomingFile[] {
  const kind = KINDS[msgtype];
  if (kind === undefined || url === undefined) return [];
  const { mimetype: mimeType = 'application/octet-stream', size } = info ?? {};
  return [{ id: url, kind, name: filename ?? (body || 'file'), mimeType, ...(size === undefined ? {} : { size }) }];
}

function isMention(content: MessageContent, words: string, { self, selfName }: { self: string; selfName: string }): boolean {
  if (parseChatCommand(words)) return true;
  const named = content['m.mentions']?.user_ids;
  if (named) return named.includes(self);
  // Older clients only link to the account, or write its name at the start.
  return (content.formatted_body ?? '').includes(`https://matrix.to/#/${self}`) || removeMention(words, self, selfName) !== words;
}

const isReplyToOwn = (related: z.infer<typeof relation> | undefined, { isOwn }: Pick<ReadContext, 'isOwn'>): boolean =>
  related?.is_falling_back !== true && isOwn(related?.['m.in_reply_to']?.event_id ?? '');

/** Removes the account's name from the start of a message. */
function removeMention(text: string, self: string, selfName: string): string {
  const localpart = self.slice(1).split(':')[0] ?? '';
  for (const name of [self, selfName, localpart]) {
    const prefix = text.startsWith('@') && !name.startsWith('@') ? `@${name}` : name;
    if (name === '' || !text.toLowerCase().startsWith(prefix.toLowerCase())) continue;
    const rest = text.slice(prefix.length);
    if (/^[\s:,]/.test(rest)) return rest.replace(/^[\s:,]+/, '');
  }
  return text;
}
