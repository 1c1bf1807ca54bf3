import { memoryId } from './index/entry.ts';
import { formatMemory, type MemoryBlock, parseMemories } from './long-term.ts';
import { preferenceOf } from './long-term-file.ts';

type Remembered = MemoryBlock & { kind: 'memory' };

const ITEM = /^- \d{4}-\d\d-\d\d/;
const ownLines = (text: string): string[] => (text === '' ? [] : text.split(/(?<=\n|\r(?!\n))/));
const keyOf = (block: MemoryBlock): string => (block.kind === 'memory' ? memoryId(block.memory.text) : `text ${block.text.trim()}`);

const nameOf = (block: MemoryBlock): string | undefined =>
  block.kind === 'memory' ? preferenceOf(block.memory)?.key.toLowerCase() : undefined;

/**
 * Merges two diverged versions of a long-term file: the later version, plus each memory and paragraph that only the earlier one has, placed
 * after the same predecessor. Without a common base a deletion cannot be detected, so a memory deleted in one version returns if the other
 * has it. Of two preferences with the same name the newer one wins.
 */
export function mergeMemories(earlier: string, later: string): string {
  const there = parseMemories(later);
  const lines = ownLines(later);
  const given = ownLines(earlier);
  const said = parseMemories(earlier);
  const rivalOf = (block: MemoryBlock): Remembered | undefined => {
    const name = nameOf(block);
    return name === undefined ? undefined : there.filter((other) => other.kind === 'memory').findLast((other) => nameOf(other) === name);
  };

  const instead = new Map<MemoryBlock, Remembered>();
  const keys = new Set(there.map(keyOf));
  for (const block of said) {
    const rival = rivalOf(block);
    if (!rival || block.kind !== 'memory' || keys.has(keyOf(block))) continue;
    if (block.memory.createdAt > (instead.get(rival) ?? rival).memory.createdAt) instead.set(rival, block);
  }

  // Preferences about to be replaced do not count as known: a fact with the same text may still be added.
  const known = new Map(there.filter((block) => !instead.has(block)).map((block) => [keyOf(block), block]));
  /** Added blocks by the line (counted from 1) that they follow. */
  const added = new Map<number, MemoryBlock[]>();
  const taken = new Set<string>();
  let behind = 0;
  for (const block of said) {
    const key = keyOf(block);
    const same = known.get(key) ?? rivalOf(block);
    if (same) behind = same.end;
    else if (!taken.has(key)) {
      taken.add(key);
      added.set(behind, [...(added.get(behind) ?? []), block]);
    }
  }
  if (added.size === 0 && instead.size === 0) return later;

  const merged: string[] = [];
  const begin = (line: string): void => {
    const last = merged.at(-1);
    if (last !== undefined && !/[\r\n]$/.test(last)) merged[merged.length - 1] = `${last}\n`;
    // A paragraph ends at an empty line or at the next memory.
    if (last !== undefined && last.trim() !== '' && line.trim() !== '' && !ITEM.test(line)) merged.push('\n');
  };
  const add = (at: number): void => {
    const blocks = added.get(at) ?? [];
    for (const { line, end } of blocks) {
      const [first = '', ...more] = given.slice(line - 1, end);
      begin(first);
      merged.push(first, ...more);
    }
    if (blocks.length > 0) begin(lines[at] ?? '');
  };
  add(0);
  for (let at = 0; at < lines.length; at++) {
    const other = [...instead].find(([{ line }]) => line === at + 1);
    if (other) {
      const [block, { memory }] = other;
      merged.push(formatMemory(memory));
      at = block.end - 1;
    } else merged.push(lines[at] ?? '');
    add(at + 1);
  }
  return merged.join('');
}
