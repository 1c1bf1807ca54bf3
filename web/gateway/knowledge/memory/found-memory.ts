import type { IndexEntry, PassageKind } from './index/index-entry.ts';
import type { FileIndex, FoundEntry } from './index/file-index.ts';
import type { MemoryCategory } from './long-term.ts';
import type { MatchReasons } from './search/memory-search.ts';

/** A passage next to a found one. */
export interface NeighbourText {
  text: string;
  /** Name or role of the speaker. */
  speaker?: string;
}

/** A search result. */
export interface FoundMemory {
  /** Id to pass to `forget` if `kind` is `memory`. */
  id: string;
  text: string;
  kind: PassageKind;
  /** Only set for memories. */
  category?: MemoryCategory;
  /** Path in the workspace, and line numbers counted from 1, such as `12-14`. */
  path: string;
  lines: string;
  /** When it was said or noted, in milliseconds since the Unix epoch; null if unknown. */
  at: number | null;
  /** Name or role of the speaker. Only set for messages. */
  speaker?: string;
  /** Session of a message, and the message's id if it has one. */
  sessionKey?: string;
  messageId?: string;
  /** Ranking score; comparable only within one search. */
  score: number;
  /** Share of the query covered by the passage and its neighbours, 0 to 1. */
  coverage: number;
  /** Probability from 0 to 1 that one of the results answers the query: below `MIN_FIT`, most likely none does. */
  fit: number;
  why: MatchReasons;
  /** The passages right before and after it in the same conversation or notes. */
  before: NeighbourText | null;
  after: NeighbourText | null;
}

export function toFoundMemory({ entry, score, coverage, fit, why }: FoundEntry, index: Pick<FileIndex, 'beside'>): FoundMemory {
  const { id, text, kind, category, path, line, end, at, speaker, key } = entry;
  const { before, after } = index.beside(entry);
  return {
    id,
    text,
    kind,
    ...(category === null ? {} : { category }),
    path,
    lines: line === end ? String(line) : `${line}-${end}`,
    at,
    ...(speaker === null ? {} : { speaker }),
    ...(key === null ? {} : parseMessageKey(key)),
    score,
    coverage,
    fit,
    why,
    before: before ? toNeighbour(before) : null,
    after: after ? toNeighbour(after) : null,
  };
}

const toNeighbour = ({ text, speaker }: IndexEntry): NeighbourText => ({ text, ...(speaker === null ? {} : { speaker }) });

/** Splits a message key (see `toMessageKey`) into session and id. An id contains no spaces; the fallback used for messages without an id does. */
function parseMessageKey(key: string): Pick<FoundMemory, 'sessionKey' | 'messageId'> {
  const end = key.lastIndexOf('\n');
  const [sessionKey, messageId] = [key.slice(0, end), key.slice(end + 1)];
  return { sessionKey, ...(messageId.includes(' ') ? {} : { messageId }) };
}
