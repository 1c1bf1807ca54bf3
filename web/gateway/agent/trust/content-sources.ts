import type { HistoryMessage } from '#shared/rpc/record-schemas.ts';
import { isChannelSession } from '../../system/channel-session.ts';

/** Maximum number of sources in a list. */
const MAX_SOURCES = 20;
/** Replaces all further sources, so that a grant for the listed ones does not cover them. */
export const MORE_SOURCES = 'more:sources';
const MAX_NAME_CHARS = 100;

const SOURCE_KINDS = [
  'web',
  'mcp',
  'document',
  'picture',
  'channel',
  'hook',
  'program',
  'key',
  'command',
  'import',
  'collection',
  'unknown',
] as const;
/** Kinds of content that may be written by someone other than the owner. */
type SourceKind = (typeof SOURCE_KINDS)[number];

/** A source of outside content, such as `web:example.com`: its kind and its name. `*` is replaced: in a grant it matches any name. */
export const toSource = (kind: SourceKind, name: string): string =>
  `${kind}:${
    name
      .replace(/[\s\p{C}]+/gu, ' ')
      .replaceAll('*', '_')
      .trim()
      .slice(0, MAX_NAME_CHARS) || 'unknown'
  }`;

/** Sources that a file names, in their proper form; texts of another form are left out. */
export const normalizeSources = (sources: readonly string[]): string[] =>
  sources.flatMap((source) => {
    const kind = SOURCE_KINDS.find((each) => source.startsWith(`${each}:`));
    return kind ? [toSource(kind, source.slice(kind.length + 1))] : [];
  });

/** Whether a grant for this source covers nothing else: others may choose the names of documents and imports. */
export const isExactSource = (source: string): boolean => !source.includes('*') && source !== MORE_SOURCES;

/** Source of text written by a program whose key lacks scopes: `key:<id> <name>`. */
export const toKeySource = (id: string, name: string): string => toSource('key', `${id} ${name}`);

/** Source of text from a conversation of a channel: `channel:<channel> <conversation>`. Each conversation is a separate source. */
export const toChannelSource = (channelId: string, conversation: string): string =>
  toSource('channel', `${channelId} ${conversation}`.trim());

/** Source of a channel's messages that were stored without one: the conversation, from the session key that the channel created for it. */
export function toSessionSource(sessionKey: string): string {
  const [channelId = '', ...conversation] = sessionKey.replace(/^[^/]*\//, '').split('-');
  return toChannelSource(channelId, conversation.join('-'));
}

/** Whether a source is this principal's own writing. */
export const isFromKey = (source: string, principal: string): boolean => principal.startsWith('key:') && source.startsWith(`${principal} `);

/** Source of text from the documents of a collection. */
export const toCollectionSource = (name: string): string => toSource('collection', name);

export const toWebSource = (url: string): string => toSource('web', URL.parse(url)?.host || url);

/** Merges lists without duplicates, to at most `MAX_SOURCES`. */
export function mergeSources(...lists: (readonly string[] | undefined)[]): string[] {
  const sources = [...new Set(lists.flatMap((list) => list ?? []))];
  if (sources.length <= MAX_SOURCES) return sources;
  return [...sources.filter((source) => source !== MORE_SOURCES).slice(0, MAX_SOURCES - 1), MORE_SOURCES];
}

type SourcedMessage = Pick<HistoryMessage, 'role' | 'content' | 'attachments' | 'outside'> & { sessionKey?: string };

/**
 * Outside sources of a message: those stored with it, or for messages of builds that stored none, the person's attachments and the channel
 * that it came from. An empty list marks a message that a person has reviewed.
 */
export function getMessageSources(message: SourcedMessage): readonly string[] {
  if (message.outside) return message.outside;
  if (message.role !== 'user') return [];
  const channel = message.sessionKey !== undefined && isChannelSession(message.sessionKey) ? [toSessionSource(message.sessionKey)] : [];
  return mergeSources(channel, getAttachmentSources(message));
}

/** A message that stores its sources itself, for a copy in another session. */
export function withStoredSources<Message extends SourcedMessage>(message: Message): Message {
  const outside = message.outside ? [] : getMessageSources(message);
  return outside.length > 0 ? { ...message, outside: [...outside] } : message;
}

/** Sources of the documents and pictures in a message. */
export function getAttachmentSources({ content, attachments = [] }: Pick<SourcedMessage, 'content' | 'attachments'>): string[] {
  const parts = typeof content === 'string' ? [] : content.filter((part) => part.type !== 'text');
  const files = attachments.length > 0 ? attachments : parts;
  return files.map(({ mimeType, filename }) =>
    toSource(mimeType.startsWith('image/') ? 'picture' : 'document', filename ?? 'without a name'),
  );
}
