import { expect, it } from 'vitest';
import { splitCitedText, toPlacedCitations } from './message-citations.ts';

const SOURCES = [
  { number: 1, id: 'https://a.test/x#2', kind: 'web' as const, title: 'Herons', url: 'https://a.test/x', text: 'Herons nest early.' },
  { number: 2, id: 'doc#0', kind: 'passage' as const, title: 'Survey', path: 'north/survey.md', documentId: 'doc', text: '42 herons.' },
];
const quote = (text: string) => ({ text, start: 0, end: text.length });
const WEB = {
  ...{ type: 'web_search_result_location', cited_text: 'Herons nest early.', title: 'Herons' },
  ...{ url: 'https://a.test/x', encrypted_index: '1' },
};
const DOCUMENT = {
  ...{ type: 'search_result_location', cited_text: '42 herons.', title: 'Survey', source: 'north/survey.md' },
  ...{ search_result_index: 1, start_block_index: 0, end_block_index: 1 },
};

/** The citations of these claims, in an answer whose last step starts at `offset`. */
const place = (claims: [number: number, start: number, end: number][], offset = 0) =>
  toPlacedCitations({
    type: 'citations',
    start: offset,
    citations: claims.map(([number, start, end]) => ({ number, start, end, quote: quote(SOURCES[number - 1]?.text ?? '') })),
    sources: SOURCES,
  });

it('gives each cited claim a block of its own', () => {
  const text = 'I looked.\n\nHerons nest early. There are 42. Nothing else.';
  const placed = place(
    [
      [2, 19, 32],
      [1, 0, 18],
      [2, 0, 18],
      [9, 0, 4],
    ],
    11,
  );
  const parts = splitCitedText(text, 0, placed);
  expect(parts).toEqual([
    { text: 'I looked.\n\n', citations: null },
    // White space is no block of its own.
    { text: 'Herons nest early. ', citations: [WEB, DOCUMENT] },
    { text: 'There are 42.', citations: [DOCUMENT] },
    { text: ' Nothing else.', citations: null },
  ]);
  expect(parts.map((part) => part.text).join('')).toBe(text);
});

it('joins claims that overlap, and leaves out those of other blocks', () => {
  const overlapping = place([
    [1, 2, 6],
    [2, 4, 9],
    [1, 20, 30],
  ]);
  expect(splitCitedText('0123456789', 0, overlapping)).toEqual([
    { text: '01', citations: null },
    { text: '2345678', citations: [WEB, DOCUMENT] },
    { text: '9', citations: null },
  ]);
  expect(splitCitedText('0123456789', 20, overlapping)).toEqual([{ text: '0123456789', citations: [WEB] }]);
  expect(splitCitedText('', 0, overlapping)).toEqual([]);
});
