import { expect, test } from 'vitest';
import { toReadableText, toSpeechPieces } from './speech-text.ts';

test('a text is said without its mark-up', () => {
  expect(
    toSpeechPieces(
      '# A *title*\n\nSome **bold** and `plain()` words with a [link](https://example.com/a?b=c).\n\n> quoted\n\n- one\n- two\n  - three',
    ),
  ).toEqual(['A title', 'Some bold and plain() words with a link.', 'quoted', 'one', 'two', 'three']);
});

test('code, formulas, rules and raw HTML are not said', () => {
  expect(toSpeechPieces('Before\n\n```ts\nconst a = 1;\n```\n\n$$\nx^2\n$$\n\n---\n\nIt is $y$ <kbd>here</kbd>.')).toEqual([
    'Before',
    'It is here.',
  ]);
});

test('tables are said row by row, pictures by their words', () => {
  expect(toSpeechPieces('| a | b |\n| - | - |\n| 1 | **2** |\n\n![A cat](data:image/png;base64,AA)')).toEqual(['a, b', '1, 2', 'A cat']);
});

test('long texts are cut between sentences, and where there are none between words, and nothing is lost', () => {
  const sentence = `Some ${'words '.repeat(30).trim()}.`;
  const pieces = toSpeechPieces(Array(10).fill(sentence).join(' '));
  expect(pieces.every((piece) => piece.length <= 300 && piece.endsWith('.'))).toBe(true);
  expect(pieces.join(' ')).toBe(Array(10).fill(sentence).join(' '));
  const endless = toSpeechPieces('x'.repeat(1_000));
  expect(endless.every((piece) => piece.length <= 300)).toBe(true);
  expect(endless.join('')).toHaveLength(1_000);
  expect(toSpeechPieces('word '.repeat(500)).join(' ').split(' ')).toHaveLength(500);
});

test('text without words is not spoken', () => {
  expect(toSpeechPieces('***\n\n…\n\n`!`')).toEqual([]);
});

test('a screen reader is told code and formulas as they are written, and words without their mark-up', () => {
  expect(
    toReadableText(
      '# A *title*\n\n> Use `a * b | c` in a [shell](https://example.com/x), or $y^2$.\n\n- one:\n  ```sh\n  # all\n  ls *.ts | wc > `out`\n  ```\n\n2 * 3 > 5 <kbd>Esc</kbd> <Unknown>',
    ).split('\n'),
  ).toEqual(['A title', 'Use a * b | c in a shell, or $y^2$.', 'one:', '# all', 'ls *.ts | wc > `out`', '2 * 3 > 5 Esc <Unknown>']);
});

test('a fence that is not closed yet is code to its end, and a block of HTML is its words', () => {
  expect(toReadableText('```\n> a | b')).toBe('> a | b');
  expect(toReadableText('<details><summary>More</summary>Hidden <script>x</script></details>')).toMatch(/More +Hidden <script>x<\/script>/);
});
