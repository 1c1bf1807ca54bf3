import type { HistoryMessage } from '#shared/rpc/records.ts';
import { isChannelSession } from '../channels/channel-session.ts';

/** Sources that are named one by one. */
const MAX_SOURCES = 20;
/** Stands for all further ones, so that a grant for those that are named does not cover them. */
const MORE_SOURCES = 'more:sources';
const MAX_NAME = 100;

/** Kinds of content that somebody else than the owner may have written. */
export type SourceKind = 'web' | 'mcp' | 'document' | 'picture' | 'channel' | 'program' | 'key' | 'command' | 'import' | 'unknown';

/** A source of outside content, such as `web:example.com`: its kind and its name. */
export const toSource = (kind: SourceKind, name: string): string =>
  `${kind}:${
    name
      .replace(/[\s\p{C}]+/gu, ' ')
      .trim()
      .slice(0, MAX_NAME) || 'unknown'
  }`;

/** Source of text written by a program whose key lacks scopes: `key:<id> <name>`. */
export const toKeySource = (id: string, name: string): string => toSource('key', `${id} ${name}`);

/** Source of text from a conversation of a channel: `channel:<channel> <conversation>`. Each conversation is a source of its own. */
export const toChannelSource = (channelId: string, conversation: string): string =>
  toSource('channel', `${channelId} ${conversation}`.trim());

/** Source of a channel's messages that were stored without one: the conversation, by the session that the channel named after it. */
export function toSessionSource(sessionKey: string): string {
  const [channelId = '', ...conversation] = sessionKey.replace(/^[^/]*\//, '').split('-');
  return toChannelSource(channelId, conversation.join('-'));
}

/** Whether a source is what this principal wrote itself. */
export const isFromKey = (source: string, principal: string): boolean => principal.startsWith('key:') && source.startsWith(`${principal} `);

export const toWebSource = (url: string): string => toSource('web', URL.parse(url)?.host || url);

/** All lists without duplicates, at most `MAX_SOURCES`. */
export function mergeSources(...lists: (readonly string[] | undefined)[]): string[] {
  const sources = [...new Set(lists.flatMap((list) => list ?? []))];
  if (sources.length <= MAX_SOURCES) return sources;
  return [...sources.filter((source) => source !== MORE_SOURCES).slice(0, MAX_SOURCES - 1), MORE_SOURCES];
}

type SourcedMessage = Pick<HistoryMessage, 'role' | 'content' | 'attachments' | 'outside'> & { sessionKey?: string };

/**
 * The outside sources of a message: as they were stored, and for messages of builds that stored none, the attachments of a person and what came by a channel.
 * An empty list is a message that a person has reviewed.
 */
export function getMessageSources(message: SourcedMessage): readonly string[] {
  if (message.outside) return message.outside;
  if (message.role !== 'user') return [];
  const channel = message.sessionKey !== undefined && isChannelSession(message.sessionKey) ? [toSessionSource(message.sessionKey)] : [];
  return mergeSources(channel, getAttachmentSources(message));
}

/** Documents and pictures of a message. */
export function getAttachmentSources({ content, attachments = [] }: Pick<SourcedMessage, 'content' | 'attachments'>): string[] {
  const parts = typeof content === 'string' ? [] : content.filter((part) => part.type !== 'text');
  const files = attachments.length > 0 ? attachments : parts;
  return files.map(({ mimeType, filename }) =>
    toSource(mimeType.startsWith('image/') ? 'picture' : 'document', filename ?? 'without a name'),
  );
}
