import type { MessagePart } from '#shared/rpc/record-schemas.ts';
import { type OpenAiPart, getPartText } from '../memory/openai-message.ts';
import { detectLanguage, ENGLISH } from '../search/text/languages.ts';
import { splitWords } from '../search/text/analyze.ts';
import type { ActiveRecallConfigFields } from './recall-config.ts';
import { QueryMode } from './recall-settings.ts';

/** A turn of a conversation before its latest message, oldest first. */
export interface Turn {
  /** Turns with roles other than `user` and `assistant` are ignored. */
  role: string;
  /** Null in OpenAI replies that only contain tool calls. */
  content: string | null | readonly (MessagePart | OpenAiPart)[];
}

/** A query for the memory. */
export interface RecallQuery {
  text: string;
  /** Whether it is the latest message rather than an earlier turn. */
  latest: boolean;
}

/** The queries of a recall, and the mode that produced them. */
export interface RecallQueries {
  mode: QueryMode;
  /** Why the mode differs from the configured one; null if it does not. */
  fallback: string | null;
  list: RecallQuery[];
}

/**
 * Maximum length of a query in characters. Each word takes search time, and in long pasted text the question is at the beginning or the
 * end.
 */
const MAX_QUERY_CHARS = 600;
/** Maximum length for replies, which are wordier than questions. */
const MAX_REPLY_CHARS = 300;
/** Limits of the mode FULL, in addition to the latest message. */
const MAX_FULL_TURNS = 16;
const MAX_FULL_CHARS = 8000;

/** Creates the queries for a message and the turns before it, the message first. Throws an Error that names an input which is not text. */
export function createQueries(message: string, turns: readonly Turn[], config: ActiveRecallConfigFields): RecallQueries {
  if (typeof message !== 'string') throw new TypeError('The latest message must be a string.');
  const nonEmpty = turns
    .map((turn, index) => ({ role: turn.role, text: getTurnText(turn, index) }))
    .filter(({ text }) => text.trim() !== '');
  const dialog = nonEmpty.filter(({ role }) => role === 'user' || role === 'assistant');
  const chars = dialog.reduce((sum, { text }) => sum + text.length, 0);
  const fallback =
    config.queryMode === QueryMode.FULL && (dialog.length > MAX_FULL_TURNS || chars > MAX_FULL_CHARS)
      ? `The conversation is too long for a full query: ${dialog.length} turns with ${chars} characters`
      : null;
  const mode = fallback === null ? config.queryMode : QueryMode.RECENT;
  const before = mode === QueryMode.MESSAGE ? [] : mode === QueryMode.FULL ? dialog : selectRecentTurns(dialog, config);
  const earlier = before
    .toReversed()
    .map(({ role, text }) => ({ text: clipMiddle(text, role === 'user' ? MAX_QUERY_CHARS : MAX_REPLY_CHARS), latest: false }));
  const list = [{ text: clipMiddle(message, MAX_QUERY_CHARS), latest: true }, ...earlier];
  // Duplicates are queried once.
  return { mode, fallback, list: list.filter((query, index) => query.text !== '' && isFirst(query, index, list)) };
}

const isFirst = ({ text }: RecallQuery, index: number, all: readonly RecallQuery[]): boolean =>
  all.findIndex((other) => other.text === text) === index;

function getTurnText(turn: Turn, index: number): string {
  const { content }: { content: unknown } = turn;
  if (content === null) return '';
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) throw new TypeError(`recentTurns[${index}].content must be a string or an array of parts.`);
  return content.flatMap((part: OpenAiPart) => getPartText(part) ?? []).join('\n');
}

function selectRecentTurns(
  turns: readonly { role: string; text: string }[],
  { recentUserTurns, recentAssistantTurns }: ActiveRecallConfigFields,
): { role: string; text: string }[] {
  const remaining: Record<string, number> = { user: recentUserTurns, assistant: recentAssistantTurns };
  return turns
    .toReversed()
    .filter(({ role }) => {
      const isIncluded = (remaining[role] ?? 0) > 0;
      if (isIncluded) remaining[role] = (remaining[role] ?? 0) - 1;
      return isIncluded;
    })
    .toReversed();
}

/** Keeps the beginning and the end of a text, at word boundaries. */
function clipMiddle(text: string, maxChars: number): string {
  const plain = text.trim();
  if (plain.length <= maxChars) return plain;
  const half = Math.floor(maxChars / 2);
  const head = plain.slice(0, half).replace(/(?<=\s)\S*$/, '');
  const tail = plain.slice(-half).replace(/^\S*(?=\s)/, '');
  return `${head.toWellFormed()}\n${tail.toWellFormed()}`.trim();
}

/** Returns a predicate for words of a question that carry no meaning by themselves. */
export function createEmptyWordFilter({ text }: RecallQuery): (word: string) => boolean {
  const words = splitWords(text);
  const language = detectLanguage(words.map(({ folded }) => folded));
  const known = new Set(words.filter(({ paired }) => paired).map((word) => word.text));
  return (word) => !known.has(word) && (word.length < 2 || ENGLISH.stopWords.has(word) || language?.stopWords.has(word) === true);
}
