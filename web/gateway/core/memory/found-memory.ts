import type { Entry, PassageKind } from './index/entry.ts';
import type { FileIndex, FoundEntry } from './index/file-index.ts';
import type { MemoryCategory } from './long-term.ts';
import type { Reasons } from './search/memory-search.ts';

/** What stands beside a passage. */
export interface Beside {
  text: string;
  /** Name or role. */
  speaker?: string;
}

/** A passage that was found. */
export interface FoundMemory {
  /** What `forget` takes, where it is a `memory`. */
  id: string;
  text: string;
  kind: PassageKind;
  /** Of a memory. */
  category?: MemoryCategory;
  /** File in the workspace, and its lines from 1 on, such as `12-14`. */
  path: string;
  lines: string;
  /** Milliseconds since 1970: when it was said or noted; null where nothing says so. */
  at: number | null;
  /** Of a message: name or role. */
  speaker?: string;
  /** Of a message: its session, and its id where it has one. */
  sessionKey?: string;
  messageId?: string;
  /** What it is ranked by; comparable within one search only. */
  score: number;
  /** The share of the query that it and its neighbours have: 0 to 1. */
  coverage: number;
  why: Reasons;
  /** What was said or written right before and after it in the same conversation or notes. */
  before: Beside | null;
  after: Beside | null;
}

export function foundMemory({ entry, score, coverage, why }: FoundEntry, index: Pick<FileIndex, 'beside'>): FoundMemory {
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
    ...(key === null ? {} : placeOf(key)),
    score,
    coverage,
    why,
    before: before ? beside(before) : null,
    after: after ? beside(after) : null,
  };
}

const beside = ({ text, speaker }: Entry): Beside => ({ text, ...(speaker === null ? {} : { speaker }) });

/** Of what tells a message from others (`keyOf`): an id has no spaces, what stands in its place has. */
function placeOf(key: string): Pick<FoundMemory, 'sessionKey' | 'messageId'> {
  const end = key.lastIndexOf('\n');
  const [sessionKey, messageId] = [key.slice(0, end), key.slice(end + 1)];
  return { sessionKey, ...(messageId.includes(' ') ? {} : { messageId }) };
}
