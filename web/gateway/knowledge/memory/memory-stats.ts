import type { FileIndex } from './index/file-index.ts';
import { parseNotesDate, RESULTS_FOLDER } from './layout.ts';
import type { MemoryCategory } from './long-term.ts';
import type { Workspace } from './workspace.ts';

/** Counts of what a memory holds. */
export interface MemoryStats {
  memories: number;
  byCategory: Partial<Record<MemoryCategory, number>>;
  /** Times of the oldest and newest memory in milliseconds since the Unix epoch; null if there is none. */
  oldest: number | null;
  newest: number | null;
  /** Number of files with daily notes. */
  days: number;
  dialogs: { days: number; messages: number; /** Lines that cannot be parsed. */ broken: number };
  toolResults: { files: number; bytes: number };
  /** Number of indexed passages. */
  passages: number;
}

export async function computeStats(index: FileIndex, workspace: Workspace): Promise<MemoryStats> {
  const results = await workspace.list(RESULTS_FOLDER);
  const stats: MemoryStats = {
    memories: 0,
    byCategory: {},
    oldest: null,
    newest: null,
    days: 0,
    dialogs: { days: 0, messages: 0, broken: 0 },
    toolResults: { files: results.length, bytes: results.reduce((sum, { size }) => sum + size, 0) },
    passages: index.size,
  };
  for (const { file, entries } of index.files()) {
    if (file.path.startsWith('dialog/')) {
      stats.dialogs.days++;
      stats.dialogs.messages += entries.length;
      stats.dialogs.broken += file.broken;
    } else if (file.path.startsWith('memory/')) stats.days++;
    for (const { category, at } of entries) {
      if (category === null || at === null) continue;
      stats.memories++;
      stats.byCategory[category] = (stats.byCategory[category] ?? 0) + 1;
      stats.oldest = Math.min(stats.oldest ?? at, at);
      stats.newest = Math.max(stats.newest ?? at, at);
    }
  }
  return stats;
}

/** Counts of what memory holds for one day. */
export interface MemoryDay {
  /** `YYYY-MM-DD` */
  date: string;
  memories: number;
  messages: number;
  notes: boolean;
}

/** The days with data, newest first. `toDay` returns the local date of an instant. */
export function listDays(index: FileIndex, toDay: (at: number) => string): MemoryDay[] {
  const days = new Map<string, MemoryDay>();
  const day = (date: string): MemoryDay => {
    const known = days.get(date) ?? { date, memories: 0, messages: 0, notes: false };
    days.set(date, known);
    return known;
  };
  for (const { file, entries } of index.files()) {
    const notes = parseNotesDate(file.path);
    if (notes !== undefined) day(notes).notes = true;
    for (const { kind, at } of entries) {
      if (at === null) continue;
      if (kind === 'memory') day(toDay(at)).memories++;
      if (kind === 'message') day(toDay(at)).messages++;
    }
  }
  return [...days.values()]
    .filter(({ memories, messages, notes }) => memories + messages > 0 || notes)
    .sort((a, b) => (a.date < b.date ? 1 : -1));
}
