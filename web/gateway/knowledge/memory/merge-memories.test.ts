import fc from 'fast-check';
import { expect } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { mergeText } from '../../agent/workspace/merge-copy.ts';
import { mergeMemories } from './merge-memories.ts';
import { parseMemories } from './long-term.ts';
import { toMemoryId } from './index/index-entry.ts';

const line = (text: string, category = 'fact', time = '09:30'): string => `- 2026-11-22 ${time} [${category}] ${text}\n`;

verifies('vault.files/memories', 'each memory and paragraph of both is there, behind what it stood behind, and nothing twice', () => {
  const base = `# Memory\n\n## Pets\n${line('The cat is called Miso.')}\n## Food\n${line('Ada eats no meat.')}`;
  const pets = base.replace('\n## Food', `${line('The dog is called Rex,\n  and is old.')}\n## Food`);
  const food = `${base}${line('Käse is liked.')}\nA note by hand,\non two lines.\n`;
  const merged = `# Memory\n\n## Pets\n${line('The cat is called Miso.')}${line('The dog is called Rex,\n  and is old.')}\n## Food\n${line('Ada eats no meat.')}${line('Käse is liked.')}\nA note by hand,\non two lines.\n`;
  expect(mergeMemories(pets, food)).toBe(merged);
  expect(mergeMemories(food, pets)).toBe(merged);
  expect(mergeMemories(base, merged)).toBe(merged);
  expect(mergeMemories('', base)).toBe(base);
  expect(mergeMemories(base, '')).toBe(base);
  // Texts that differ only in spacing are equal; a file may lack a final line break and may use CRLF.
  expect(mergeMemories(line('Two  words'), line('Two words').trimEnd())).toBe(line('Two words').trimEnd());
  expect(mergeMemories(line('new'), line('old').trimEnd())).toBe(line('new') + line('old').trimEnd());
  expect(mergeMemories('a\r\n\r\nb\r\n', 'a')).toBe('a\n\nb\r\n');
});

verifies('vault.files/memories', 'of two preferences of one name the later one counts, in its place', () => {
  const [early, late] = [line('Tone: friendly', 'preference', '09:00'), line('tone: dry', 'preference', '10:00')];
  expect(mergeMemories(`${late}${line('x')}`, `${early}${line('y')}`)).toBe(`${late}${line('x')}${line('y')}`);
  expect(mergeMemories(`${early}${line('x')}`, `${late}${line('y')}`)).toBe(`${late}${line('x')}${line('y')}`);
  // A fact with the same text as a replaced preference stays a fact.
  expect(
    mergeMemories(`${line('Tone: warm', 'preference', '10:00')}${line('tone: dry')}`, early.replace('Tone: friendly', 'tone: dry')),
  ).toBe(`${line('Tone: warm', 'preference', '10:00')}${line('tone: dry')}`);
});

const word = fc.constantFrom('Miso', 'Rex', 'Ada', 'a "b"', 'tone: dry', 'Tone: warm', '- [ ] to do', '# Head', '  far in', 'é🐦');
const piece = fc.oneof(
  fc.tuple(word, fc.constantFrom('fact', 'preference', 'none'), fc.constantFrom('09:00', '10:00')).map((drawn) => line(...drawn)),
  fc.tuple(word, word).map(([first, second]) => `${line(first)}  ${second}\n`),
  word.map((text) => `${text}\n`),
  fc.constantFrom('\n', '\r\n', 'no end'),
);
const file = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));

verifies(
  'vault.files/either-way',
  'memories: the same whichever is given first, with all of both, and nothing more when it is done again',
  () => {
    fc.assert(
      fc.property(file, file, fc.nat(2), fc.nat(2), (one, other, at, then) => {
        const [a, b] = [
          { content: one, modifiedAt: at },
          { content: other, modifiedAt: then },
        ];
        const merged = mergeText('MEMORY.md', a, b) ?? '';
        expect(mergeText('MEMORY.md', b, a)).toBe(merged);
        const text = merged.replaceAll(/\s+/g, ' ');
        const ids = new Set(parseMemories(merged).map((block) => (block.kind === 'memory' ? toMemoryId(block.memory.text) : '')));
        for (const block of [...parseMemories(one), ...parseMemories(other)])
          if (block.kind === 'text') expect(text).toContain(block.text.trim().replaceAll(/\s+/g, ' '));
          else if (block.memory.category !== 'preference' || !block.memory.text.toLowerCase().startsWith('tone:'))
            expect(ids).toContain(toMemoryId(block.memory.text));
        for (const each of [a, b]) expect(mergeText('MEMORY.md', each, { content: merged, modifiedAt: 9 })).toBe(merged);
      }),
      { numRuns: 3_000 },
    );
  },
);
