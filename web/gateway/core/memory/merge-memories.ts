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
 * Two versions of a long-term file that were written apart: the later one, with each memory and each paragraph of the earlier one that it has not, behind what they stood behind
 * there. Nobody knows what both were made from, so what one of them has forgotten comes back where the other has it. Of two preferences of one name the one that was noted later
 * counts.
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

  // What makes way for another is not there any more: a fact of the same words is to come.
  const known = new Map(there.filter((block) => !instead.has(block)).map((block) => [keyOf(block), block]));
  /** By the line behind which they go, from 1 on. */
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
    // A paragraph goes on up to an empty line or the next memory.
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
