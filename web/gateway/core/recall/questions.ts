import type { Part } from '#shared/rpc/records.ts';
import { type OpenAiPart, textIn } from '../memory/openai-message.ts';
import { detectLanguage, ENGLISH } from '../memory/text/languages.ts';
import { wordsOf } from '../memory/text/analyze.ts';
import type { ActiveRecallConfigFields } from './config.ts';
import { QueryMode } from './settings.ts';

/** A turn of a conversation before its latest message, oldest first. */
export interface Turn {
  /** Turns of others than `user` and `assistant` are passed over. */
  role: string;
  /** Null as in a reply of OpenAI's API that only calls tools. */
  content: string | null | readonly (Part | OpenAiPart)[];
}

/** Something that memory is asked. */
export interface Question {
  text: string;
  /** It is the latest message, not what was said before. */
  latest: boolean;
}

/** What is asked at all, and in which mode. */
export interface Questions {
  mode: QueryMode;
  /** Why it is another than the configured one. */
  fallback: string | null;
  list: Question[];
}

/** Characters of one question: a search takes longer with each word, and what is asked stands at one end of a text that somebody pastes. */
const LONGEST = 600;
/** Of replies, which say in many words what was asked in few. */
const LONGEST_REPLY = 300;
/** What the mode FULL takes at the most, beside the latest message. */
const FULL_TURNS = 16;
const FULL_CHARS = 8000;

/** What memory is asked for a message and the turns before it, the message first. Throws an Error that names what is no text. */
export function questionsOf(message: string, turns: readonly Turn[], config: ActiveRecallConfigFields): Questions {
  if (typeof message !== 'string') throw new TypeError('The latest message must be a string.');
  const said = turns.map((turn, index) => ({ role: turn.role, text: turnText(turn, index) })).filter(({ text }) => text.trim() !== '');
  const spoken = said.filter(({ role }) => role === 'user' || role === 'assistant');
  const chars = spoken.reduce((sum, { text }) => sum + text.length, 0);
  const fallback =
    config.queryMode === QueryMode.FULL && (spoken.length > FULL_TURNS || chars > FULL_CHARS)
      ? `The conversation is too long for a full query: ${spoken.length} turns with ${chars} characters`
      : null;
  const mode = fallback === null ? config.queryMode : QueryMode.RECENT;
  const before = mode === QueryMode.MESSAGE ? [] : mode === QueryMode.FULL ? spoken : recent(spoken, config);
  const earlier = before
    .toReversed()
    .map(({ role, text }) => ({ text: clipped(text, role === 'user' ? LONGEST : LONGEST_REPLY), latest: false }));
  const list = [{ text: clipped(message, LONGEST), latest: true }, ...earlier];
  // Said twice, it is asked once.
  return { mode, fallback, list: list.filter((each, index) => each.text !== '' && isFirst(each, index, list)) };
}

const isFirst = ({ text }: Question, index: number, all: readonly Question[]): boolean =>
  all.findIndex((other) => other.text === text) === index;

function turnText(turn: Turn, index: number): string {
  const { content }: { content: unknown } = turn;
  if (content === null) return '';
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) throw new TypeError(`recentTurns[${index}].content must be a string or an array of parts.`);
  return content.flatMap((part: OpenAiPart) => textIn(part) ?? []).join('\n');
}

function recent(
  turns: readonly { role: string; text: string }[],
  { recentUserTurns, recentAssistantTurns }: ActiveRecallConfigFields,
): { role: string; text: string }[] {
  const left: Record<string, number> = { user: recentUserTurns, assistant: recentAssistantTurns };
  return turns
    .toReversed()
    .filter(({ role }) => {
      const some = (left[role] ?? 0) > 0;
      if (some) left[role] = (left[role] ?? 0) - 1;
      return some;
    })
    .toReversed();
}

/** The beginning and the end of a text, by whole words. */
function clipped(text: string, most: number): string {
  const plain = text.trim();
  if (plain.length <= most) return plain;
  const half = Math.floor(most / 2);
  const head = plain.slice(0, half).replace(/(?<=\s)\S*$/, '');
  const tail = plain.slice(-half).replace(/^\S*(?=\s)/, '');
  return `${head.toWellFormed()}\n${tail.toWellFormed()}`.trim();
}

/** Tells whether a word of a question says nothing by itself. */
export function emptyWords({ text }: Question): (word: string) => boolean {
  const words = wordsOf(text);
  const language = detectLanguage(words.map(({ folded }) => folded));
  const known = new Set(words.filter(({ paired }) => paired).map((word) => word.text));
  return (word) => !known.has(word) && (word.length < 2 || ENGLISH.stopWords.has(word) || language?.stopWords.has(word) === true);
}
