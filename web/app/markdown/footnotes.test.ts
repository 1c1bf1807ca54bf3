import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type MarkdownBlock, MarkdownBlockSplitter } from './markdown-blocks.ts';
import { markdownParser } from './markdown-parser.ts';

const renderWhole = (text: string): MarkdownBlock[] => new MarkdownBlockSplitter().update(text);
const TEXT = 'Text[^1] more[^2]\n\n[^1]: note\n\n[^2]: A longer note.\n';

test('footnotes come after the text, and its references know their numbers', () => {
  const labels = ['1', '2'];
  expect(renderWhole(TEXT)).toEqual([
    { kind: 'markdown', source: 'Text[^1] more[^2]', labels },
    {
      kind: 'footnotes',
      notes: [
        { label: '1', source: 'note' },
        { label: '2', source: 'A longer note.' },
      ],
    },
  ]);
});

test('they are numbered by their first references; those without one come last; of equal labels the first counts', () => {
  const text = '[^b]: B, see [^c]\n[^d]: D\n[^a]: A\n[^A]: again\n[^c]: C\n\nOne[^a], two[^B], `[^d]`.';
  const notes = renderWhole(text).at(-1);
  expect(notes).toMatchObject({ kind: 'footnotes', notes: ['a', 'b', 'c', 'd'].map((label) => ({ label })) });
});

test('a footnote has the paragraphs and code that are indented below it', () => {
  const text = 'A[^1].\n\n[^1]: First\nline two\n\n    Second.\n\n    ```js\n    f();\n    ```\n\nAfter it.\n- item\n';
  expect(renderWhole(text)).toEqual([
    { kind: 'markdown', source: 'A[^1].', labels: ['1'] },
    { kind: 'markdown', source: 'After it.\n' },
    { kind: 'markdown', source: '- item\n' },
    { kind: 'footnotes', notes: [{ label: '1', source: 'First\nline two\n\nSecond.\n\n```js\nf();\n```' }] },
  ]);
});

test('no definition of a footnote becomes a link', () => {
  const html = (text: string): string => markdownParser().parse(text, { async: false });
  for (const text of [TEXT, '> Text[^1]\n>\n> [^1]: https://example.com\n', 'Text[^a b]\n\n[^a b]: https://example.com'])
    expect(html(text).replaceAll(/<a href="(https:[^"]+)">\1<\/a>/g, '')).not.toContain('<a ');
});

test('growing piece by piece ends as the text read at once', () => {
  const text = `${TEXT}\nEnd[^2] of it[^x].\n\n[^x]: X\n  goes on\n\n    and on\n\n# Heading\n`;
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 40 }), (steps) => {
      const growing = new MarkdownBlockSplitter();
      let shown = 0;
      for (const step of steps) growing.update(text.slice(0, (shown += step)));
      expect(growing.update(text)).toEqual(renderWhole(text));
    }),
  );
});

test('blocks stay the same objects while a text grows below its footnotes', () => {
  const blocks = new MarkdownBlockSplitter();
  const before = blocks.update(TEXT);
  const after = blocks.update(`${TEXT}\nMore.`);
  expect(after[0]).toBe(before[0]);
  expect(after.at(-1)).toBe(before.at(-1));
});

test('a long text of footnotes is read at once', () => {
  const startedAt = performance.now();
  for (const text of ['[^a]: b\n'.repeat(20_000), '[^'.repeat(50_000), '[^a]'.repeat(20_000), `[^a]:${'\n'.repeat(50_000)}x`]) {
    renderWhole(text);
    markdownParser().parse(text, { async: false });
  }
  expect(performance.now() - startedAt).toBeLessThan(20_000);
});
