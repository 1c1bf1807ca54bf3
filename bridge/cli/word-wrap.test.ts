import fc from 'fast-check';
import { expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { computeWidth } from './terminal-output.ts';
import { WordWrap } from './word-wrap.ts';

/** The text as printed on a terminal, passed in pieces of `size` characters. */
function wrapText(text: string, width: number, size = 3): string {
  const wrap = new WordWrap(() => width);
  const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
  return [...pieces, '\n'].map((piece) => wrap.add(piece)).join('');
}

verifies('cli/chat-terminal', 'lines break between words, whatever the pieces that they come in', () => {
  expect(wrapText('one two three', 8)).toBe('one two\nthree\n');
  expect(wrapText('one two  threefour', 7)).toBe('one two\nthreefour\n');
  expect(wrapText('  - one\n  - two', 7)).toBe('  - one\n  - two\n');
  // Longer than a line: broken by the terminal.
  expect(wrapText(`a ${'x'.repeat(30)} b`, 10)).toBe(`a\n${'x'.repeat(30)}\nb\n`);
  expect(wrapText('日本語 日本', 6)).toBe('日本語\n日本\n');
  // Code is meant to be copied.
  expect(wrapText('```\ncurl -X POST http://127.0.0.1\n```\nand so on', 8)).toBe('```\ncurl -X POST http://127.0.0.1\n```\nand so\non\n');
  expect(wrapText('one two three', Infinity)).toBe('one two three\n');
  // An unfinished word is printed nevertheless.
  expect(new WordWrap(() => 80).add('x'.repeat(200))).toHaveLength(200);
  expect(new WordWrap(() => 80).add('日')).toBe('日');
  const begun = new WordWrap(() => 8);
  expect([begun.add('one two'), begun.rest(), begun.add('-three four\n')]).toEqual(['one', ' two', '-three\nfour\n']);
});

verifies('cli/chat-terminal', 'no word is lost or changed, and no line of short words is too long', () => {
  const words = fc.array(fc.stringMatching(/^[a-z.,]{1,9}$/), { minLength: 1 });
  fc.assert(
    fc.property(words, fc.integer({ min: 10, max: 40 }), fc.integer({ min: 1, max: 20 }), (each, width, size) => {
      const text = wrapText(each.join(' '), width, size);
      expect(text.split(/\s+/).filter(Boolean)).toEqual(each);
      for (const line of text.split('\n')) expect(computeWidth(line)).toBeLessThanOrEqual(width);
    }),
  );
});
