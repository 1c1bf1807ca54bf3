import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { formatMemory, MemoryCategory, type MemoryLine, parseMemories, removeBlock } from './long-term.ts';

const memory = fc.record({
  text: fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll(/\r\n|\r/g, '\n')),
  category: fc.constantFrom(...Object.values(MemoryCategory)),
  createdAt: fc.integer({ min: 0, max: 4_000_000 }).map((minutes) => minutes * 60_000 + 1_600_000_000_000 - (1_600_000_000_000 % 60_000)),
});
const prose = fc.constantFrom(
  '# Memory\n',
  'Written by hand.\nOn two lines.\n',
  '- an item of a list\n',
  '\n',
  '- 2024-13-45 [fact] no date\n',
  '- 2024-01-01 [nonsense] x\n',
);

const memoriesOf = (file: string): MemoryLine[] => parseMemories(file).flatMap((block) => (block.kind === 'memory' ? block.memory : []));

describe('the long-term memory file', () => {
  verifies('memory.long-term/lines', 'lines are read back as they were written, and one can be taken out', () => {
    expect(formatMemory({ text: 'Miso is the cat\nof Ana', category: 'fact', createdAt: Date.UTC(2026, 10, 22, 9, 30) })).toBe(
      '- 2026-11-22 09:30 [fact] Miso is the cat\n  of Ana\n',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(memory, prose), { maxLength: 12 }), fc.nat(), (parts, which) => {
        const file = parts.map((part) => (typeof part === 'string' ? `\n${part}\n` : formatMemory(part))).join('');
        const written = parts.filter((part) => typeof part !== 'string');
        expect(memoriesOf(file)).toEqual(written);
        const blocks = parseMemories(file);
        const block = blocks[which % Math.max(1, blocks.length)];
        if (!block) return;
        const rest = parseMemories(removeBlock(file, block));
        const texts = (all: typeof blocks): string[] => all.map((each) => (each.kind === 'memory' ? formatMemory(each.memory) : each.text));
        expect(texts(rest).join('\n')).toBe(texts(blocks.filter((each) => each !== block)).join('\n'));
      }),
    );
  });
});
