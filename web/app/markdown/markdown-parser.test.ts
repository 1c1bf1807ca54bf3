import { expect, test } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { MarkdownBlockSplitter } from './markdown-blocks.ts';
import { markdownParser } from './markdown-parser.ts';

const marked = markdownParser();
const html = (text: string): string => marked.parse(text, { async: false });
const levels = (text: string, tag: string): number => html(text).split(`<${tag}>`).length - 1;

test('what is nested as people nest it is read whole', () => {
  expect(levels('> '.repeat(10) + 'x', 'blockquote')).toBe(10);
  expect(levels(Array.from({ length: 10 }, (_, level) => `${'  '.repeat(level)}- x`).join('\n'), 'ul')).toBe(10);
  expect(html('**a *b ~~c~~***')).toBe('<p><strong>a <em>b <del>c</del></em></strong></p>\n');
});

// Read in the square of its length it would take a minute, which is longer than a test may.
verifies('rendering/hostile', 'a line of 300,000 signs of emphasis before and after a word is read', () => {
  for (const sign of ['*', '_']) {
    const line = sign.repeat(150_000);
    expect(html(`Above ${line}a${line}`) === `<p>Above ${line}a${line}</p>\n`, sign).toBe(true);
  }
});

verifies('rendering/hostile', 'words of 600,000 letters and signs are read, and many signs in a line', () => {
  for (const word of ['a_', 'a*', 'a@b', '~a.']) {
    const text = word.repeat(200_000);
    expect(html(text) === `<p>${text}</p>\n`, word).toBe(true);
    expect(html(`${word} `.repeat(50_000)), word).toContain('</p>');
  }
});

verifies(
  'rendering/hostile',
  'endless nesting is parsed at once, and keeps its words',
  () => {
    const texts = {
      quotes: `${'>'.repeat(10_000)} the end`,
      'quotes with spaces': `${'> '.repeat(10_000)}the end`,
      'lists in one line': `${'- '.repeat(10_000)}the end`,
      'numbers in one line': `${'1. '.repeat(10_000)}the end`,
      'lists that step in': `${Array.from({ length: 1_000 }, (_, level) => `${'  '.repeat(level)}- x`).join('\n')} the end`,
      emphasis: `${'**a *b '.repeat(2_000)}${'c* d** '.repeat(2_000)}the end`,
      deletions: `${'~~a ~b '.repeat(2_000)}${'b~ a~~ '.repeat(2_000)}the end`,
      mixed: `${'> - '.repeat(3_000)}the end`,
    };
    for (const [name, text] of Object.entries(texts)) {
      const startedAt = performance.now();
      expect(html(text), name).toContain('the end');
      const [block] = new MarkdownBlockSplitter().update(text);
      expect(block, name).toMatchObject({ kind: 'markdown', source: text });
      expect(performance.now() - startedAt, name).toBeLessThan(30_000);
    }
  },
  120_000,
);

verifies('rendering/hostile', 'a table that is too wide, or has too many cells, is shown as it is written', () => {
  const row = (columns: number): string => `|${'<b> |'.repeat(columns)}`;
  const table = (columns: number, rows: number): string =>
    [row(columns), `|${'-|'.repeat(columns)}`, ...Array.from({ length: rows }, () => row(columns))].join('\n');
  for (const text of [table(200, 40), table(2, 4_000)]) {
    expect(new MarkdownBlockSplitter().update(text)).toEqual([{ kind: 'markdown', source: text }]);
    expect(html(text)).toContain('<table>');
  }
  for (const text of [table(5_000, 1), table(201, 1), table(3, 4_000)]) {
    expect(new MarkdownBlockSplitter().update(`Look:\n\n${text}\n\nSo.`).slice(1)).toEqual([
      { kind: 'code', language: '', code: text },
      { kind: 'markdown', source: 'So.' },
    ]);
    const quoted = html(text.replace(/^/gm, '> '));
    expect(quoted).not.toContain('<table>');
    expect(quoted).toContain('<pre><code>|&lt;b>');
  }
});
