import fc from 'fast-check';
import { expect, test } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { type MarkdownBlock, MarkdownBlockSplitter } from './markdown-blocks.ts';

const SAMPLE = `Intro with a [link][1].

- one
- two

  still two

1. first

\`\`\`ts
const a = 1;

const b = 2;
\`\`\`

| a | b |
| - | - |
| 1 | 2 |

$$
a
= b
- c_1
$$

A price of $5, and $10; a formula $x_1^2$, \\(y\\).

\\[
z \\\\[2pt]
\\]

> quote
> goes on

[1]: https://example.com

Last, see [it][1].
`;

const parseWhole = (text: string): MarkdownBlock[] => new MarkdownBlockSplitter().update(text);

test('a text cut into blocks has its code apart', () => {
  const blocks = parseWhole(SAMPLE);
  expect(blocks.filter(({ kind }) => kind === 'code')).toEqual([{ kind: 'code', language: 'ts', code: 'const a = 1;\n\nconst b = 2;' }]);
});

test('growing piece by piece ends as the text read at once', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 60 }), (steps) => {
      const growing = new MarkdownBlockSplitter();
      let visible = 0;
      for (const step of steps) growing.update(SAMPLE.slice(0, (visible += step)));
      expect(growing.update(SAMPLE)).toEqual(parseWhole(SAMPLE));
    }),
  );
});

test('lines that end as Windows or an old Mac ends them are lines, also while they come', () => {
  for (const end of ['\r\n', '\r']) {
    const text = SAMPLE.replaceAll('\n', end);
    expect(parseWhole(text), JSON.stringify(end)).toEqual(parseWhole(SAMPLE));
    const growing = new MarkdownBlockSplitter();
    for (let shown = 0; shown <= text.length; shown++) growing.update(text.slice(0, shown));
    expect(growing.update(text), JSON.stringify(end)).toEqual(parseWhole(SAMPLE));
  }
});

test('blocks that are complete stay the same objects while the last one grows', () => {
  const blocks = new MarkdownBlockSplitter();
  const before = blocks.update('One paragraph.\n\nAnother one.\n\nThe last');
  const after = blocks.update('One paragraph.\n\nAnother one.\n\nThe last grows');
  expect(after[0]).toBe(before[0]);
  expect(after[1]).toBe(before[1]);
  expect(after[2]).not.toBe(before[2]);
});

test('a code fence that is still open is code already', () => {
  expect(parseWhole('```py\nprint(1)')).toEqual([{ kind: 'code', language: 'py', code: 'print(1)' }]);
});

test('another text begins anew', () => {
  const blocks = new MarkdownBlockSplitter();
  blocks.update('First answer.\n\nMore.');
  expect(blocks.update('Second answer.')).toEqual([{ kind: 'markdown', source: 'Second answer.' }]);
});

verifies('rendering/hostile', 'what comes after very many blocks is one, as it is written', () => {
  const text = '# A\n\n'.repeat(3_000);
  const blocks = new MarkdownBlockSplitter().update(text);
  expect(blocks).toHaveLength(1_001);
  expect(blocks.at(-1)).toEqual({ kind: 'code', language: '', code: '# A\n\n'.repeat(2_000).trimEnd() });
});

test('a huge list or quote is shown as plain text, and its neighbours as usual', () => {
  for (const line of ['- item\n', '> quoted\n>\n', 'line  \n']) {
    const long = line.repeat(3_001).trimEnd();
    const blocks = parseWhole(`Before.\n\n${long}\n\n# After`);
    expect(blocks[1]).toMatchObject({ kind: 'code', language: '', code: long });
    expect(blocks.at(-1)).toMatchObject({ kind: 'markdown', source: '# After' });
    expect(parseWhole(line.repeat(1_000))).toMatchObject([{ kind: 'markdown' }]);
  }
});

verifies('rendering/hostile', 'runs of backticks that only grow are shown as they are written', () => {
  const runs = Array.from({ length: 1_200 }, (_, count) => '`'.repeat(count + 1)).join(' a ');
  const fence = '`'.repeat(120);
  expect(new MarkdownBlockSplitter().update(`${runs}\n\nA \`word\`.\n\n${fence}js\nx\n${fence}`)).toEqual([
    { kind: 'code', language: '', code: runs },
    { kind: 'markdown', source: 'A `word`.' },
    { kind: 'code', language: 'js', code: 'x' },
  ]);
});
