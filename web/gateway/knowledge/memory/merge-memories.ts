import { toMemoryId } from './index/index-entry.ts';
import { formatMemory, type MemoryBlock, parseMemories } from './long-term.ts';
import { parsePreference } from './long-term-file.ts';

type MemoryItemBlock = MemoryBlock & { kind: 'memory' };

const ITEM = /^- \d{4}-\d\d-\d\d/;
const splitLines = (text: string): string[] => (text === '' ? [] : text.split(/(?<=\n|\r(?!\n))/));
const toKey = (block: MemoryBlock): string => (block.kind === 'memory' ? toMemoryId(block.memory.text) : `text ${block.text.trim()}`);

const getPreferenceName = (block: MemoryBlock): string | undefined =>
  block.kind === 'memory' ? parsePreference(block.memory)?.key.toLowerCase() : undefined;

/**
 * Merges two diverged versions of a long-term file: the later version, plus each memory and paragraph that only the earlier one has, placed
 * after the same predecessor. Without a common base a deletion cannot be detected, so a memory deleted in one version returns if the other
 * has it. Of two preferences with the same name the newer one wins.
 */
export function mergeMemories(earlier: string, later: string): string {
  const laterBlocks = parseMemories(later);
  const lines = splitLines(later);
  const earlierLines = splitLines(earlier);
  const earlierBlocks = parseMemories(earlier);
  const findRival = (block: MemoryBlock): MemoryItemBlock | undefined => {
    const name = getPreferenceName(block);
    return name === undefined
      ? undefined
      : laterBlocks.filter((other) => other.kind === 'memory').findLast((other) => getPreferenceName(other) === name);
  };

  const replacements = new Map<MemoryBlock, MemoryItemBlock>();
  const keys = new Set(laterBlocks.map(toKey));
  for (const block of earlierBlocks) {
    const rival = findRival(block);
    if (!rival || block.kind !== 'memory' || keys.has(toKey(block))) continue;
    if (block.memory.createdAt > (replacements.get(rival) ?? rival).memory.createdAt) replacements.set(rival, block);
  }

  // Preferences about to be replaced do not count as known: a fact with the same text may still be added.
  const known = new Map(laterBlocks.filter((block) => !replacements.has(block)).map((block) => [toKey(block), block]));
  /** Added blocks by the line (counted from 1) that they follow. */
  const added = new Map<number, MemoryBlock[]>();
  const used = new Set<string>();
  let followsLine = 0;
  for (const block of earlierBlocks) {
    const key = toKey(block);
    const same = known.get(key) ?? findRival(block);
    if (same) followsLine = same.end;
    else if (!used.has(key)) {
      used.add(key);
      added.set(followsLine, [...(added.get(followsLine) ?? []), block]);
    }
  }
  if (added.size === 0 && replacements.size === 0) return later;

  const merged: string[] = [];
  const begin = (line: string): void => {
    const last = merged.at(-1);
    if (last !== undefined && !/[\r\n]$/.test(last)) merged[merged.length - 1] = `${last}\n`;
    // A paragraph ends at an empty line or at the next memory.
    if (last !== undefined && last.trim() !== '' && line.trim() !== '' && !ITEM.test(line)) merged.push('\n');
  };
  const add = (lineNumber: number): void => {
    const blocks = added.get(lineNumber) ?? [];
    for (const { line, end } of blocks) {
      const [first = '', ...more] = earlierLines.slice(line - 1, end);
      begin(first);
      merged.push(first, ...more);
    }
    if (blocks.length > 0) begin(lines[lineNumber] ?? '');
  };
  add(0);
  for (let index = 0; index < lines.length; index++) {
    const other = [...replacements].find(([{ line }]) => line === index + 1);
    if (other) {
      const [block, { memory }] = other;
      merged.push(formatMemory(memory));
      index = block.end - 1;
    } else merged.push(lines[index] ?? '');
    add(index + 1);
  }
  return merged.join('');
}
