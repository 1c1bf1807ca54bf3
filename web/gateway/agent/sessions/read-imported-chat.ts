import type { HistoryMessage } from '#shared/rpc/record-schemas.ts';
import type { SessionRecord } from '../../storage/chat-records.ts';
import { createSession, toPlainText } from '../../storage/session-views.ts';
import { mergeSources, normalizeSources, toSource } from '../trust/content-sources.ts';
import { parseMarkdownChat } from './markdown-chat.ts';
import { type CopiedMessage, parseJsonLines, readExportedParameters } from './session-transfer.ts';

interface ImportedChat {
  content: string;
  title?: string | undefined;
  agentId: string;
  sessionId: string;
}

/** Reads an exported chat, whose text counts as outside content. Throws `INVALID_PARAMS` if it is not one. */
export function readImportedChat(
  { content, title, agentId, sessionId }: ImportedChat,
  now: number,
): { session: SessionRecord; messages: CopiedMessage[] } {
  const isMarkdown = /^\s*#/.test(content);
  const read = isMarkdown ? parseMarkdownChat(content, now) : { title: undefined, messages: parseJsonLines(content) };
  const { messages } = read;
  // Abandoned branches come first in an export.
  const byTime = messages.toSorted((a, b) => a.timestamp - b.timestamp);
  const words = toPlainText(byTime.find(({ role }) => role === 'user')?.content ?? '');
  // Lists show when it was last used, not when it was imported.
  const timeOf = (message: HistoryMessage | undefined): number => Math.max(0, Math.min(now, message?.timestamp ?? now));
  const session = { ...createSession(agentId, sessionId, read.title ?? words, timeOf(byTime[0])), updatedAt: timeOf(byTime.at(-1)) };
  const parameters = isMarkdown ? undefined : readExportedParameters(content);
  const named = { ...session, ...(title === undefined ? {} : { title }), ...(parameters ? { parameters } : {}) };
  // The file may come from anybody.
  const source = toSource('import', named.title);
  return {
    session: named,
    messages: messages.map(({ compaction, quotedUrls: _, ...message }) => ({
      ...message,
      outside: mergeSources([source], normalizeSources(message.outside ?? [])),
      // Models receive the summary in place of the message.
      ...(compaction ? { compaction: { ...compaction, outside: mergeSources([source], normalizeSources(compaction.outside ?? [])) } } : {}),
    })),
  };
}
