import { computeContentId } from '../content-id.ts';
import { toMessageKey, parseDialog } from '../dialog/dialog-lines.ts';
import { parseNotesDate, parseDialogDate, getDayStart } from '../layout.ts';
import { type MemoryCategory, parseMemories } from '../long-term.ts';
import { getText } from '../memory-message.ts';
import { splitChunks } from '../notes/chunks.ts';

/** Kind of a passage: a memory, other text of the long-term file, a section of daily notes, or a message. */
export type PassageKind = 'memory' | 'note' | 'day' | 'message';

/** A passage of a file. */
export interface IndexEntry {
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
export function parseEntries(path: string, text: string, longTerm: string, before = 0): { entries: IndexEntry[]; broken: number } {
  if (path === longTerm) return { entries: parseLongTerm(path, text), broken: 0 };
  const day = parseNotesDate(path);
  if (day !== undefined)
    return { entries: toNoteEntries(path, splitChunks(text), { kind: 'day', at: getDayStart(day) ?? null }), broken: 0 };
  const date = parseDialogDate(path);
  return date === undefined ? { entries: [], broken: 0 } : parseDialogEntries(path, text, date, before);
}

/** Whether a file is indexed at all. */
export const isIndexed = (path: string, longTerm: string): boolean =>
  path === longTerm || parseNotesDate(path) !== undefined || parseDialogDate(path) !== undefined;

export const toMemoryId = (text: string): string => `m-${computeContentId(text)}`;
/** Other ids are derived from the position. */
export const isMemoryId = (id: string): boolean => /^m-[0-9a-f]{20}$/.test(id);

function parseLongTerm(path: string, text: string): IndexEntry[] {
  const seen = new Set<string>();
  return parseMemories(text).flatMap((block): IndexEntry[] => {
    const { line, end } = block;
    if (block.kind === 'text') {
      const chunks = splitChunks(block.text).map((chunk) => ({ ...chunk, line: line + chunk.line - 1, end: line + chunk.end - 1 }));
      return toNoteEntries(path, chunks, { kind: 'note', at: null });
    }
    const { text, category, createdAt } = block.memory;
    const id = toMemoryId(text);
    if (seen.has(id) || text.trim() === '') return [];
    seen.add(id);
    // Each memory is a thread of its own: adjacent memories are about unrelated things.
    return [{ id, kind: 'memory', thread: id, text, category, path, line, end, at: createdAt, speaker: null, key: null }];
  });
}

function toNoteEntries(
  path: string,
  chunks: readonly { text: string; line: number; end: number }[],
  { kind, at }: Pick<IndexEntry, 'kind' | 'at'>,
): IndexEntry[] {
  const counts = new Map<number, number>();
  return chunks.map(({ text, line, end }) => {
    // A long line may yield several.
    const occurrence = counts.get(line) ?? 0;
    counts.set(line, occurrence + 1);
    const id = `${path}#${line}${occurrence === 0 ? '' : `.${occurrence}`}`;
    return { id, kind, thread: path, text, category: null, path, line, end, at, speaker: null, key: null };
  });
}

function parseDialogEntries(path: string, text: string, date: string, before: number): { entries: IndexEntry[]; broken: number } {
  const { lines, broken } = parseDialog(text);
  const begin = getDayStart(date) ?? 0;
  const entries = lines.map(({ sessionKey, message, line: lineNumber }): IndexEntry => ({
    id: `${path}#${before + lineNumber}`,
    kind: 'message',
    thread: `${sessionKey}/${date}`,
    text: getText(message),
    category: null,
    path,
    line: before + lineNumber,
    end: before + lineNumber,
    at: message.timestamp ?? begin,
    speaker: message.name ?? message.role,
    key: toMessageKey(message, sessionKey) ?? null,
  }));
  return { entries, broken: broken.length };
}
