import type { Workspace } from '../../memory/workspace.ts';
import { type BrokenLine, parseJsonLines } from '../json-lines.ts';
import { memoryChange, type MemoryChange } from './memory-change.ts';

/** History of changes that the exam tried, with the memories that they replaced. */
const CHANGES_FILE = '.dreams/changes.jsonl';
const MAX_CHANGES = 500;

/** Log of changes: JSON Lines in `.dreams/changes.jsonl`, one line for each of the last 500 changes. */
export class ChangeLog {
  readonly #workspace: Workspace;

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  /** By id, oldest first. */
  async read(): Promise<{ changes: Map<string, MemoryChange>; broken: BrokenLine[] }> {
    const { values, broken } = parseJsonLines((await this.#workspace.read(CHANGES_FILE)) ?? '', memoryChange, CHANGES_FILE);
    return {
      changes: new Map(values.map(({ value }) => [value.id, value])),
      broken: broken.map(({ path, line, why }) => ({ path, line, why })),
    };
  }

  /** Writes changes, replacing earlier lines of the same id. Invalid lines stay. */
  async put(changes: readonly MemoryChange[]): Promise<void> {
    if (changes.length === 0) return;
    const replaced = new Set(changes.map(({ id }) => id));
    await this.#workspace.update(CHANGES_FILE, (file = '') => {
      const { values, broken } = parseJsonLines(file, memoryChange, CHANGES_FILE);
      const all = [...values.flatMap(({ value }) => (replaced.has(value.id) ? [] : value)), ...changes].sort((a, b) => a.at - b.at);
      return [...broken.map(({ text }) => text), ...all.slice(-MAX_CHANGES).map(formatChange)].map((line) => `${line}\n`).join('');
    });
  }
}

/** A line of the log. `content` has all its texts, so that forgetting one of them removes the line. */
function formatChange(change: MemoryChange): string {
  const content = [...change.removed.map(({ text }) => text), ...change.added.map(({ text }) => text), change.duplicateOf ?? ''].join('\n');
  return JSON.stringify({ content, ...change });
}
