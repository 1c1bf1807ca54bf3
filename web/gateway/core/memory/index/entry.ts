import { contentId } from '../content-id.ts';
import { keyOf, parseDialog } from '../dialog/dialog-lines.ts';
import { dayDate, dialogDate, startOf } from '../layout.ts';
import { type MemoryCategory, parseMemories } from '../long-term.ts';
import { textOf } from '../message.ts';
import { chunksOf } from '../notes/chunks.ts';

/** What a passage is of: a remembered line, other text of the long-term file, a day's notes, or a message. */
export type PassageKind = 'memory' | 'note' | 'day' | 'message';

/** A passage of a file. */
export interface Entry {
  /** Unique in the workspace. A memory has the same wherever it stands; others are named by their place. */
  id: string;
  kind: PassageKind;
  /** What stands beside it in its thread was said or written beside it. */
  thread: string;
  /** A message without text has an empty one. */
  text: string;
  category: MemoryCategory | null;
  path: string;
  /** From the first to the last line, from 1 on. */
  line: number;
  end: number;
  /** Milliseconds since 1970: when it was noted or said; null where nothing says so. */
  at: number | null;
  speaker: string | null;
  /** Of a message: what tells it from the others of its session. */
  key: string | null;
}

/**
 * The passages of a file in their order, and how many of its lines could not be read. `before`: lines of a dialog that stand before the text, which is what was
 * added to it.
 */
export function entriesOf(path: string, text: string, longTerm: string, before = 0): { entries: Entry[]; broken: number } {
  if (path === longTerm) return { entries: ofLongTerm(path, text), broken: 0 };
  const day = dayDate(path);
  if (day !== undefined) return { entries: noted(path, chunksOf(text), { kind: 'day', at: startOf(day) ?? null }), broken: 0 };
  const date = dialogDate(path);
  return date === undefined ? { entries: [], broken: 0 } : ofDialog(path, text, date, before);
}

/** Whether a file has passages at all. */
export const isIndexed = (path: string, longTerm: string): boolean =>
  path === longTerm || dayDate(path) !== undefined || dialogDate(path) !== undefined;

export const memoryId = (text: string): string => `m-${contentId(text)}`;
/** Others are named by their place. */
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
    // Each stands by itself: what was noted next is about something else.
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
    // A long line has several.
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
