import { z } from '#shared/rpc/zod.ts';
import type { IncomingFile, IncomingMessage } from '../../../storage/records/channel-state.ts';
import type { DeletedMessage, SentReceipt } from '../channel-adapter.ts';
import { parseChatCommand } from '../chat-commands.ts';

const attachment = z.object({
  id: z.string(),
  contentType: z.string().catch('application/octet-stream'),
  filename: z.string().nullish(),
  size: z.number().int().nonnegative().nullish(),
});
const dataMessage = z.object({
  timestamp: z.number().int().positive(),
  message: z.string().nullish(),
  attachments: z.array(attachment).catch([]),
  mentions: z
    .array(
      z.object({
        number: z.string().nullish(),
        uuid: z.string().nullish(),
        name: z.string().nullish(),
        start: z.number(),
        length: z.number(),
      }),
    )
    .catch([]),
  groupInfo: z.object({ groupId: z.string(), groupName: z.string().nullish() }).optional().catch(undefined),
  quote: z.object({ authorNumber: z.string().nullish(), author: z.string().nullish() }).optional().catch(undefined),
  remoteDelete: z.object({ timestamp: z.number() }).optional().catch(undefined),
});
const receipt = z.object({
  when: z.number(),
  isDelivery: z.boolean().optional(),
  isRead: z.boolean().optional(),
  isViewed: z.boolean().optional(),
  timestamps: z.array(z.number()),
});
const receivedEvent = z.object({
  envelope: z.object({
    sourceNumber: z.string().nullish(),
    sourceUuid: z.string().nullish(),
    sourceName: z.string().nullish(),
    dataMessage: dataMessage.optional().catch(undefined),
    editMessage: z.object({ targetSentTimestamp: z.number(), dataMessage }).optional().catch(undefined),
    receiptMessage: receipt.optional().catch(undefined),
  }),
});

interface SignalNews {
  message?: IncomingMessage;
  deleted?: DeletedMessage;
  receipts?: SentReceipt[];
}

/** The chat of a group, as a recipient. */
export const toGroupRecipient = (groupId: string): string => `group:${groupId}`;
/** Letters and digits, `_` and `-`, which an id of a group in Base64 is not. */
const toConversation = (id: string): string =>
  id.replace(/[^\w-]/g, (letter) => (letter === '+' ? '-' : letter === '/' ? '_' : '')).slice(0, 100);

/** Reads an event of signal-cli; undefined if it is about something else. `account`: the account's phone number. */
export function parseSignalEvent(source: unknown, account: string, now: number): SignalNews | undefined {
  const { data } = receivedEvent.safeParse(source);
  if (!data) return undefined;
  const { sourceNumber, sourceUuid, sourceName, receiptMessage, editMessage } = data.envelope;
  const sender = sourceUuid ?? sourceNumber;
  if (!sender || sourceNumber === account) return undefined;
  if (receiptMessage) return { receipts: toReceipts(receiptMessage) };
  const content = editMessage?.dataMessage ?? data.envelope.dataMessage;
  if (!content) return undefined;
  const { timestamp, groupInfo, attachments, remoteDelete } = content;
  const to = groupInfo ? toGroupRecipient(groupInfo.groupId) : sender;
  if (remoteDelete) return { deleted: { to, platformId: toPlatformId(remoteDelete.timestamp, sender) } };
  const words = readText(content, account);
  if (words === '' && attachments.length === 0) return undefined;
  const command = parseChatCommand(words);
  const name = sourceName?.slice(0, 100) || sourceNumber || sender;
  const isMention =
    command !== undefined || content.mentions.some(({ number }) => number === account) || content.quote?.authorNumber === account;
  const message: IncomingMessage = {
    id: `${editMessage ? 'edit' : 'message'}:${sender}:${timestamp}`,
    conversation: toConversation(groupInfo?.groupId ?? sender),
    // Signal vouches for the number, while anybody can choose another one's name.
    user: { id: sender, name: sourceNumber ?? sender },
    text: groupInfo && words !== '' && command === undefined ? `${name}: ${words}` : words,
    ...{ isPublic: false, to, title: `Signal: ${groupInfo ? (groupInfo.groupName ?? 'group') : name}`, at: Math.min(timestamp, now) },
    platformId: toPlatformId(editMessage?.targetSentTimestamp ?? timestamp, sender),
    isGroup: groupInfo !== undefined,
    ...(groupInfo ? { room: groupInfo.groupId, isMention } : {}),
    ...(editMessage ? { isEdit: true } : {}),
    ...(attachments.length > 0 ? { files: attachments.map((file) => toFile(file, to)) } : {}),
    ...(attachments.some(({ contentType }) => contentType === 'audio/aac') ? { isVoice: true } : {}),
    ...(command === undefined ? {} : { command }),
  };
  return { message };
}

/** Id of a message: when it was sent, and by whom. */
const toPlatformId = (timestamp: number, author: string): string => `${timestamp}:${author}`;

export function parsePlatformId(id: string): { timestamp: number; author: string } {
  const [timestamp = '', author = ''] = id.split(/:(.*)/s);
  return { timestamp: Number(timestamp), author };
}

/** The text with the names of mentioned people in their places, without a mention of the account at its start. */
function readText({ message, mentions }: z.infer<typeof dataMessage>, account: string): string {
  let text = message ?? '';
  for (const { start, length, number, name, uuid } of mentions.toSorted((a, b) => b.start - a.start)) {
    const isOwnAtStart = number === account && text.slice(0, start).trim() === '';
    text = text.slice(0, start) + (isOwnAtStart ? '' : `@${name ?? number ?? uuid ?? ''}`) + text.slice(start + length);
  }
  return text.replace(/^[\s:,]+/, '').trim();
}

/** `to`: signal-cli asks for the chat of an attachment. */
function toFile({ id, contentType, filename, size }: z.infer<typeof attachment>, to: string): IncomingFile {
  const kind = contentType.startsWith('image/') ? 'image' : contentType.startsWith('audio/') ? 'audio' : 'document';
  return {
    id: JSON.stringify([id, to]),
    kind,
    name: filename ?? 'file',
    mimeType: contentType,
    ...(typeof size === 'number' ? { size } : {}),
  };
}

function toReceipts({ when, isDelivery, isRead, isViewed, timestamps }: z.infer<typeof receipt>): SentReceipt[] {
  const state = isRead || isViewed ? 'read' : isDelivery ? 'delivered' : undefined;
  return state ? timestamps.map((timestamp) => ({ sentId: `${timestamp}`, state, at: when })) : [];
}
