import { truncateText } from '#shared/truncate-text.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { hasVisibleText, stripBidiControls, toVisibleName } from '#shared/display-name.ts';
import type { AnyEvent } from '#shared/rpc/events.ts';
import { type ModelParameters, readModelParameters } from '#shared/rpc/model-parameters.ts';
import type { CitedSource } from '#shared/rpc/passage.ts';
import type { HistoryMessage, SessionEntry } from '#shared/rpc/record-schemas.ts';
import { withoutVia } from './records/routed-call.ts';
import { type Branch, type MessageRecord, type SessionRecord, toSessionKey } from './chat-records.ts';

const PATH = /^([A-Za-z0-9_-]{1,128})\/([A-Za-z0-9_-]{1,128})\.jsonl$/;

/** The session key in a path. Throws `NOT_FOUND` for anything that is not such a path. */
export function parseSessionPath(path: string): string {
  const match = PATH.exec(path);
  if (!match) throw new RpcError('NOT_FOUND', `No session with path "${truncateText(path)}".`);
  return `${match[1]}/${match[2]}`;
}

export function toSessionEntry(
  { key, headId: _, removedAgent, parameters: stored, ...record }: SessionRecord,
  running: boolean,
): SessionEntry {
  // The record may come from an import, a backup or another build.
  const parameters = readModelParameters(stored);
  return {
    ...record,
    title: toVisibleTitle(record.title),
    path: `${key}.jsonl`,
    file: `${record.sessionId}.jsonl`,
    ...(parameters ? { parameters } : {}),
    ...(removedAgent ? { removedAgent } : {}),
    ...(running ? { running } : {}),
  };
}

/** The event for a created, changed or deleted session. */
export function createSessionChangedEvent(key: string, deleted = false): AnyEvent {
  const [agentId = '', sessionId = ''] = key.split('/');
  return { event: 'sessions.changed', payload: { path: `${key}.jsonl`, agentId, sessionId, ...(deleted ? { deleted } : {}) } };
}

/** The text of a message without its pictures and files. */
export function toPlainText(content: HistoryMessage['content']): string {
  return typeof content === 'string' ? content : content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

/**
 * A message as clients and exports see it: without fields that only the vault and models need, and without pictures that a tool showed to
 * its model.
 */
function toHistoryMessage(record: MessageRecord): HistoryMessage {
  const {
    sessionKey: _session,
    depth: _depth,
    runId: _run,
    runContext: _context,
    providerState: _state,
    readSources: _read,
    ...message
  } = record;
  if (message.role === 'tool') return { ...message, content: toPlainText(message.content) };
  return message.toolCalls ? { ...message, toolCalls: message.toolCalls.map(withoutVia) } : message;
}

/** A message as a line of a session's JSONL export. The first line has the session's parameters, which other builds ignore. */
export const toExportLine = (record: MessageRecord, sessionParameters?: ModelParameters): string =>
  `${JSON.stringify({ ...toHistoryMessage(record), ...(sessionParameters ? { sessionParameters } : {}) })}\n`;

/** Size above which a history contains only a placeholder for a message, without attachments. */
export const MAX_MESSAGE_BYTES = 128 * 1024;
const MAX_PAGE_BYTES = 8 * 1024 * 1024;
const encoder = new TextEncoder();

/**
 * Converts messages for a history: one over 128 KiB becomes a placeholder with its size; if the total exceeds 8 MiB, the oldest are left
 * for the next page and `cut` is true.
 */
export function toHistory({ messages: records, unread }: Pick<Branch, 'messages' | 'unread'>): {
  messages: HistoryMessage[];
  cut: boolean;
} {
  const messages: HistoryMessage[] = [];
  let totalBytes = 0;
  for (const record of records.toReversed()) {
    const whole = toHistoryMessage(record);
    const message = whole.sources && computeSize(whole) > MAX_MESSAGE_BYTES ? withShortSources(whole, whole.sources) : whole;
    let bytes = computeSize(message) + (unread[message.id] ?? 0);
    let shortened: HistoryMessage = message;
    if (bytes > MAX_MESSAGE_BYTES) {
      const { content, text } = createPlaceholder(message, bytes);
      shortened = { ...message, content, leftOut: { bytes, text } };
      if (computeSize(shortened) > MAX_MESSAGE_BYTES) delete shortened.reasoning;
      // The size may come from the arguments of tool calls.
      if (computeSize(shortened) > MAX_MESSAGE_BYTES && shortened.toolCalls)
        shortened.toolCalls = shortened.toolCalls.map((call) => ({ ...call, args: {} }));
      bytes = computeSize(shortened);
    }
    if (totalBytes + bytes > MAX_PAGE_BYTES && messages.length > 0) return { messages: messages.reverse(), cut: true };
    totalBytes += bytes;
    messages.push(shortened);
  }
  return { messages: messages.reverse(), cut: false };
}

/** The message with the first quote of each source instead of its text. */
function withShortSources({ citations = [], ...message }: HistoryMessage, sources: readonly CitedSource[]): HistoryMessage {
  const quotes = new Map(citations.toReversed().map(({ number, quote }) => [number, quote]));
  return {
    ...message,
    citations: citations.map((citation) => {
      const { text } = quotes.get(citation.number) ?? citation.quote;
      return { ...citation, quote: { text, start: 0, end: text.length } };
    }),
    sources: sources.map((source) => {
      const { locator } = source;
      const { text, start } = quotes.get(source.number) ?? { text: '', start: 0 };
      return {
        ...source,
        text,
        ...(locator ? { locator: { ...locator, start: locator.start + start, end: locator.start + start + text.length } } : {}),
      };
    }),
  };
}

function computeSize(message: HistoryMessage): number {
  const text = JSON.stringify(message);
  return text.length > MAX_MESSAGE_BYTES ? text.length : encoder.encode(text).byteLength;
}

/** A placeholder for a large message, with its text if that alone is small enough. `text`: whether the text is omitted. */
function createPlaceholder(message: HistoryMessage, bytes: number): { content: string; text: boolean } {
  const text = toPlainText(message.content);
  const size = `[${Math.round(bytes / 1024).toLocaleString('en')} KiB left out here]`;
  const isShort = text.length * 3 < MAX_MESSAGE_BYTES;
  return { content: isShort && text !== '' ? `${text}\n\n${size}` : size, text: !isShort };
}

const MAX_TITLE_CHARS = 60;
const UNTITLED = 'New chat';

const toVisibleTitle = (title: string): string => toVisibleName(stripBidiControls(title), UNTITLED);

// Marks of emphasis around words, but not within a word, and not in `__init__`, `2 * 3` or `*.ts`.
const EMPHASIS = /(?<![\p{L}\p{N}*_])(\*{1,3}|_)(?=["'“‘(¿¡\p{L}\p{N}])([^*_]*[^*_\s])\1(?![\p{L}\p{N}*_])/gu;

/** A line of Markdown without marks of emphasis. */
const removeEmphasis = (line: string): string => line.replaceAll(EMPHASIS, '$2');

/** The text that a session starts with: its first message, or the name of the first attachment. */
export const getFirstText = (text: string, filename = ''): string => toVisibleName(text, filename);

/** Whether a session was created before its first message, which names it. */
export const isUnnamed = ({ title, headId }: SessionRecord): boolean => headId === null && title === UNTITLED;

/** The title of a session that starts with this text. */
export function toFirstTitle(first: string): string {
  const line = removeEmphasis(first.split(/[\n\r\v\f\u0085\u2028\u2029]/).find(hasVisibleText) ?? '').trim();
  return toVisibleTitle(line.length <= MAX_TITLE_CHARS ? line : `${line.slice(0, MAX_TITLE_CHARS).replace(/\s+\S*$/, '')}…`);
}

/** A new session that starts with this text. */
export function createSession(agentId: string, sessionId: string, first: string, at: number): SessionRecord {
  return {
    key: toSessionKey(agentId, sessionId),
    agentId,
    sessionId,
    title: toFirstTitle(first),
    createdAt: at,
    updatedAt: at,
    headId: null,
    messageCount: 0,
    size: 0,
    preview: '',
    pinned: false,
    archived: false,
    folder: null,
    tags: [],
  };
}
