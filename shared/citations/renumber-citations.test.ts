import { expect, it } from 'vitest';
import { renumberCitations } from './renumber-citations.ts';

const source = (number: number, id: string) => ({ number, id, kind: 'passage' as const, title: id, text: `Text of ${id}.` });
const claim = (text: string, part: string, number: number) => {
  const start = text.indexOf(part);
  return { start, end: start + part.length, number, quote: { text: 'Text', start: 0, end: 4 } };
};

it('gives the sources of a reply the numbers of another chat', () => {
  const text = 'The bridge opened in 1932. It is 500 m long.';
  const citations = [claim(text, 'The bridge opened in 1932', 1), claim(text, 'It is 500 m long', 1), claim(text, 'It is 500 m long', 4)];
  const cited: string[] = [];
  const marked = renumberCitations({ text, citations, sources: [source(1, 'a'), source(3, 'unused'), source(4, 'b')] }, (sources) => {
    cited.push(...sources.map(({ id }) => id));
    return sources.map((_, index) => 11 + index);
  });
  expect(marked).toBe('The bridge opened in 1932 [11]. It is 500 m long [11] [12].');
  expect(cited).toEqual(['a', 'b']);
});

it('leaves a text without citations as it is, and cites nothing', () => {
  expect(renumberCitations({ text: 'Nothing to cite.', sources: [source(1, 'a')] }, () => expect.unreachable())).toBe('Nothing to cite.');
});
