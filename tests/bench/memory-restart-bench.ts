import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { formatDialogLine } from '../../web/gateway/knowledge/memory/dialog/dialog-lines.ts';
import { formatDate, toDialogPath } from '../../web/gateway/knowledge/memory/layout.ts';
import { formatMemory } from '../../web/gateway/knowledge/memory/long-term.ts';
import { toMaxBar, type Figure } from './figures.ts';

/** Messages, in the order of their conversations. */
export interface SpokenMessage {
  session: string;
  speaker: string;
  text: string;
}

/** Report of a process that opens the memory: milliseconds, and growth in megabytes. */
interface OpenReport {
  size: number;
  ready: number;
  longest: number;
  rss: number;
  peak: number;
  settledRss: number;
  heap: number;
  searchedRss: number;
  searchedHeap: number;
  first: number;
  p50: number;
  p99: number;
  follow: number;
  close: number;
}

/** One in `REMEMBERED_EVERY` entries is a remembered line; the others are messages, `MESSAGES_PER_DAY` in each day's file. */
const REMEMBERED_EVERY = 10;
const MESSAGES_PER_DAY = 100;
const FIRST_DAY = Date.UTC(2022, 0);
const DAY = 86_400_000;
const MAX_READY_SECONDS = 0.3;
const MAX_SEARCH_MS = 6;

/**
 * Time until a memory of `entries` entries can be searched after a restart, in a process that does nothing else, and the growth of that
 * process.
 */
export function benchMemoryRestart(messages: readonly SpokenMessage[], entries: number): Figure[] {
  const folder = mkdtempSync(join(tmpdir(), 'perch-bench-memory-'));
  try {
    fillMemory(folder, messages, entries);
    const created = openMemory(folder, 'make');
    if (created.size !== entries) throw new Error(`${created.size} of ${entries} entries were indexed`);
    const runs = [openMemory(folder, 'search'), openMemory(folder, 'search'), openMemory(folder, 'search')].sort(
      (a, b) => a.ready - b.ready,
    );
    const [, restored = created] = runs;
    const snapshot = removeSnapshot(folder);
    const rebuilt = openMemory(folder, 'make');
    console.error('restart:', JSON.stringify({ made: created, runs, anew: rebuilt }));
    const many = `${entries.toLocaleString('en')} entries`;
    const toFigure = (what: string, getValue: (each: OpenReport) => number, bar?: number): Figure => ({
      what: `  ${what}`,
      unit: 'MB',
      ours: getValue(restored),
      floor: { name: 'without snapshot', value: getValue(rebuilt) },
      ...(bar === undefined ? {} : { bar: toMaxBar(getValue(restored), bar, 'MB') }),
    });
    return [
      {
        what: `memory: ready after a restart, ${many}`,
        unit: 's',
        ours: restored.ready / 1000,
        floor: { name: 'without snapshot', value: rebuilt.ready / 1000 },
        bar: toMaxBar(restored.ready / 1000, MAX_READY_SECONDS, 's'),
      },
      {
        what: '  the longest that others waited',
        unit: 'ms',
        ours: restored.longest,
        floor: { name: 'without snapshot', value: rebuilt.longest },
      },
      toFigure('RSS grown when ready', ({ rss }) => rss, 150),
      toFigure('RSS grown at its highest', ({ peak }) => peak),
      toFigure('heap and buffers grown', ({ heap }) => heap, 150),
      { what: '  RSS grown after 285 searches', unit: 'MB', ours: restored.searchedRss },
      { what: '  heap and buffers grown then', unit: 'MB', ours: restored.searchedHeap },
      { what: '  the first search', unit: 'ms', ours: restored.first },
      { what: '  search, p50', unit: 'ms', ours: restored.p50, bar: toMaxBar(restored.p50, MAX_SEARCH_MS, 'ms') },
      { what: '  search, p99', unit: 'ms', ours: restored.p99 },
      { what: '  looking whether files have changed, p50', unit: 'ms', ours: restored.follow },
      { what: '  snapshot', unit: 'MB', ours: snapshot / 2 ** 20 },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Each entry has its own word, so that there are at least as many terms as in different texts. */
function fillMemory(folder: string, messages: readonly SpokenMessage[], entries: number): void {
  mkdirSync(join(folder, 'dialog'), { recursive: true });
  const memories: string[] = [];
  const days: string[][] = [];
  for (let nth = 0; nth < entries; nth++) {
    const { session = '', speaker = '', text = '' } = messages[nth % messages.length] ?? {};
    const words = `${text} w${nth.toString(36)}`;
    if (nth % REMEMBERED_EVERY === 0) memories.push(formatMemory({ text: words, category: 'fact', createdAt: FIRST_DAY }));
    else {
      const place = Math.floor(nth / MESSAGES_PER_DAY);
      const message = { id: String(nth), role: 'user' as const, name: speaker, content: words, timestamp: FIRST_DAY + place * DAY + nth };
      (days[place] ??= []).push(formatDialogLine(message, `${Math.floor(nth / messages.length)}/${session}`));
    }
  }
  writeFileSync(join(folder, 'MEMORY.md'), memories.map((line) => `${line.trimEnd()}\n`).join(''));
  for (const [place, lines] of days.entries())
    writeFileSync(join(folder, toDialogPath(formatDate(FIRST_DAY + place * DAY))), lines.join(''));
}

const openMemory = (folder: string, kind: 'make' | 'search'): OpenReport =>
  JSON.parse(
    execFileSync(process.execPath, ['--expose-gc', join(import.meta.dirname, 'children/memory-restart.ts'), folder, kind], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  ) as OpenReport;

/** Removes the snapshot and returns its bytes. */
function removeSnapshot(folder: string): number {
  const db = new DatabaseSync(join(folder, 'memory.db'));
  try {
    const size = Number(db.prepare('SELECT length(bytes) AS size FROM snapshot').get()?.['size']);
    db.exec('DELETE FROM snapshot');
    return size;
  } finally {
    db.close();
  }
}
