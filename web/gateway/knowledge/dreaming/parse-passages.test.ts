import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { parsePassagesInSlices, parsePassages } from './parse-passages.ts';

const own = (markdown: string): string[] => parsePassages(markdown).flatMap(({ text, untrusted }) => (untrusted === undefined ? text : []));
const others = (markdown: string): string[] =>
  parsePassages(markdown).flatMap(({ text, untrusted }) => (untrusted === undefined ? [] : text));

describe('passages of a text', () => {
  verifies('dreaming.promotion/untrusted', 'quotations in every form are told apart', () => {
    expect(parsePassages('# Title\n\none\ntwo\n\n- [ ] three\n  more of it\n2. four\n- 2026-11-22 03:00 [fact] five')).toMatchObject([
      { text: 'one\ntwo', line: 3 },
      { text: 'three\nmore of it', line: 6 },
      { text: 'four', line: 8 },
      { text: 'five', line: 9 },
    ]);
    for (const quotation of [
      '> evil',
      '   >> evil',
      '- > evil',
      '1. - > evil',
      '> a\nevil',
      '```\nevil\n```',
      '~~~~ts\nmine? ~~~\nevil\n~~~~',
      '````\n```\nevil\n````',
      '- ```\n  evil\n  ```',
      '```\n<!-- dreaming -->x<!-- /dreaming -->\nevil\n```',
      '```\nevil that never ends',
      '<blockquote>\nevil\n</blockquote>',
      '<p><BLOCKQUOTE cite="x">evil</blockquote></p>',
      '<!-- dreaming -->\nevil\n<!-- /dreaming -->',
      '<!-- perch:summary -->\n<!-- /dreaming -->\nevil\n<!-- /perch:summary -->',
      '<!-- perch:summary -->\n## Summary\n\n- evil\n<!-- /perch:summary -->',
      '“evil words that somebody has written” (https://evil.example)',
      "See http://evil.example: 'evil words that somebody has written'",
    ]) {
      expect(own(`mine\n\n${quotation}`).join(), quotation).toBe('mine');
      expect(others(`mine\n\n${quotation}`).join(' '), quotation).toContain('evil');
      if (!quotation.includes('never')) expect(own(`${quotation}\n\nmine`), quotation).toEqual(['mine']);
    }
    expect(own('He said "no" to it, see https://example.com')).toHaveLength(1);
  });

  verifies('dreaming.promotion/untrusted', 'any text has passages, and all words of it are in one', () => {
    const piece = fc.constantFrom(
      '> ',
      '- ',
      '```',
      '~~~',
      '\n',
      '\n\n',
      'word ',
      '# ',
      '<blockquote>',
      '</blockquote>',
      '“',
      '1. ',
      '    ',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const text = pieces.join('');
        const words = (all: string): number => all.match(/word/g)?.length ?? 0;
        const titles = text.split('\n').filter((line) => /^\s{0,3}#\s/.test(line) || /^\s*(?:(?:[-*+]|1\.)\s+)*(`{3}|~{3})/.test(line));
        const read = words(
          parsePassages(text)
            .map((passage) => passage.text)
            .join(' '),
        );
        expect(read).toBeLessThanOrEqual(words(text));
        expect(read).toBeGreaterThanOrEqual(words(text) - words(titles.join(' ')));
      }),
    );
  });

  verifies('dreaming.run/yields', 'a long note is read in turns, and as it is at once', async () => {
    const line = fc.constantFrom(
      '',
      '# Head',
      '- one',
      'two',
      '> three',
      '```',
      '<!-- dreaming -->',
      '<!-- /dreaming -->',
      '\r',
      '<blockquote>',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 500 }), async (lines) => {
        const note = lines.join('\n');
        expect(await parsePassagesInSlices(note, () => Promise.resolve())).toEqual(parsePassages(note));
      }),
    );
    let paces = 0;
    await parsePassagesInSlices('- one\n'.repeat(10_000), () => Promise.resolve(void paces++));
    expect(paces).toBeGreaterThan(40);
  });
});
