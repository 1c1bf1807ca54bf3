import { contentId } from '../content-id.ts';
import { keyOf, parseDialog } from '../dialog/dialog-lines.ts';
import { dayDate, dialogDate, startOf } from '../layout.ts';
import { type MemoryCategory, parseMemories } from '../long-term.ts';
import { textOf } from '../message.ts';
import { chunksOf } from '../notes/chunks.ts';

/** Kind of a passage: a memory, other text of the long-term file, a section of daily notes, or a message. */
export type PassageKind = 'memory' | 'note' | 'day' | 'message';

/** A passage of a file. */
export interface Entry {
  /** Unique in the workspace. A memory's id depends only on its text; other ids are derived from their position. */
  id: string;
  kind: PassageKind;
  /** Thread of the passage: neighbours in it were said or written next to each other. */
  thread: string;
  /** Empty for a message without text. */
  text: string;
  category: MemoryCategory | null;
  path: string;
  /** First and last line, counted from 1. */
  line: number;
  end: number;
  /** When it was noted or said, in milliseconds since the Unix epoch; null if unknown. */
  at: number | null;
  speaker: string | null;
  /** Identifies a message within its session; null for other kinds. */
  key: string | null;
}

/**
 * The passages of a file in order, and the number of lines that could not be parsed. `before`: number of lines preceding `text` in a dialog
 * file to which `text` was appended.
 */
export function entriesOf(path: string, text: string, longTerm: string, before = 0): { entries: Entry[]; broken: number } {
  if (path === longTerm) return { entries: ofLongTerm(path, text), broken: 0 };
  const day = dayDate(path);
  if (day !== undefined) return { entries: noted(path, chunksOf(text), { kind: 'day', at: startOf(day) ?? null }), broken: 0 };
  const date = dialogDate(path);
  return date === undefined ? { entries: [], broken: 0 } : ofDialog(path, text, date, before);
}

/** Whether a file is indexed at all. */
export const isIndexed = (path: string, longTerm: string): boolean =>
  path === longTerm || dayDate(path) !== undefined || dialogDate(path) !== undefined;

export const memoryId = (text: string): string => `m-${contentId(text)}`;
/** Other ids are derived from the position. */
export const isMemoryId = (id: string): boolean => /^m-[0-9a-f]{20}$/.test(id);

function ofLongTerm(path: string, text: string): Entry[] {
  const seen = new Set<string>();
  return parseMemories(text).flatMap((block): Entry[] => {
    const { line, end } = block;
    if (block.kind === 'text') {
      const chunks = chunksOf(block.text).map((chunk) => ({ ...chunk, line: line + chunk.line - 1, end: line + chunk.end - 1 }));
      return noted(path, chunks, { kind: 'note', at: null });
    }
    const { text, category, createdAt } = block.memory;
    const id = memoryId(text);
    if (seen.has(id) || text.trim() === '') return [];
    seen.add(id);
    // Each memory is a thread of its own: adjacent memories are about unrelated things.
    return [{ id, kind: 'memory', thread: id, text, category, path, line, end, at: createdAt, speaker: null, key: null }];
  });
}

function noted(
  path: string,
  chunks: readonly { text: string; line: number; end: number }[],
  { kind, at }: Pick<Entry, 'kind' | 'at'>,
): Entry[] {
  const counts = new Map<number, number>();
  return chunks.map(({ text, line, end }) => {
    // A long line may yield several.
    const nth = counts.get(line) ?? 0;
    counts.set(line, nth + 1);
    const id = `${path}#${line}${nth === 0 ? '' : `.${nth}`}`;
    return { id, kind, thread: path, text, category: null, path, line, end, at, speaker: null, key: null };
  });
}

function ofDialog(path: string, text: string, date: string, before: number): { entries: Entry[]; broken: number } {
  const { lines, broken } = parseDialog(text);
  const begin = startOf(date) ?? 0;
  const entries = lines.map(({ sessionKey, message, line: nth }): Entry => ({
    id: `${path}#${before + nth}`,
    kind: 'message',
    thread: `${sessionKey}/${date}`,
    text: textOf(message),
    category: null,
    path,
    line: before + nth,
    end: before + nth,
    at: message.timestamp ?? begin,
    speaker: message.name ?? message.role,
    key: keyOf(message, sessionKey) ?? null,
  }));
  return { entries, broken: broken.length };
}
