import { expect, it } from 'vitest';
import { insertMarks } from './citation-marks.ts';

const source = (number: number) => ({ number, id: String(number), kind: 'passage' as const, title: `Title ${number}`, text: 'Text' });
const quote = { text: 'Text', start: 0, end: 4 };

it('adds a placeholder for each source after its claim', () => {
  const citations = [
    { start: 0, end: 3, number: 2, quote },
    { start: 0, end: 3, number: 5, quote },
    { start: 1, end: 3, number: 2, quote },
    { start: 5, end: 8, number: 9, quote },
  ];
  const { text, marks } = insertMarks('One. Two.', citations, [source(2), source(5)]);
  expect(text).toBe('One \uE0000\uE001 \uE0001\uE001. Two.');
  expect(marks.map(({ source: { number } }) => number)).toEqual([2, 5]);
});

it('does not take placeholders of a model for its own', () => {
  expect(insertMarks('A \uE0000\uE001 b', [], []).text).toBe('A \uFFFD0\uFFFD b');
});
