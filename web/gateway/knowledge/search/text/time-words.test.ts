import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findTimeRanges } from './time-words.ts';

/** A Friday. */
const AT = Date.UTC(2024, 11, 20, 15);

const read = (text: string): string[] =>
  findTimeRanges(text, AT).map(({ from, to }) => `${new Date(from).toISOString().slice(0, 10)} ${new Date(to).toISOString().slice(0, 10)}`);

describe('timesIn', () => {
  it.each([
    ['yesterday', '2024-12-19 2024-12-20'],
    ['last Friday', '2024-12-13 2024-12-14'],
    ['on Monday', '2024-12-16 2024-12-17'],
    ['next Monday', '2024-12-23 2024-12-24'],
    ['last week', '2024-12-09 2024-12-16'],
    ['last March', '2024-03-01 2024-04-01'],
    ['in March 2022', '2022-03-01 2022-04-01'],
    ['last year', '2023-01-01 2024-01-01'],
    ['last summer', '2024-06-01 2024-09-01'],
    ['on May 5th', '2024-05-05 2024-05-06'],
    ['the 14th of June, 2023', '2023-06-14 2023-06-15'],
    ['two weeks ago', '2024-12-03 2024-12-10'],
    ['a couple of months ago', '2024-10-05 2024-11-05'],
    ['in three days', '2024-12-23 2024-12-24'],
    ['on 2024-03-05', '2024-03-05 2024-03-06'],
    ['in 2021', '2021-01-01 2022-01-01'],
    ['at Christmas', '2024-12-22 2024-12-29'],
  ])('reads %s', (text, range) => {
    expect(read(`We met ${text}, I think`)).toEqual([range]);
  });

  it.each(['I may be late', 'march with me', 'we sat in the sun', 'he had to wait', 'the second week', 'spring onions'])(
    'finds none in "%s"',
    (text) => {
      expect(read(text)).toEqual([]);
    },
  );

  it('gives ranges that are ranges, for any text', () => {
    const words = fc.constantFrom(
      'last',
      'next',
      'in',
      'on',
      '31st',
      '2024',
      'may',
      'summer',
      'week',
      'ago',
      'two',
      '99',
      'of',
      'february',
      'early',
      'the',
      '-',
      'monday',
    );
    fc.assert(
      fc.property(fc.array(words, { maxLength: 8 }), fc.integer({ min: 0, max: 4e12 }), (parts, at) => {
        for (const { from, to } of findTimeRanges(parts.join(' '), at)) expect(from).toBeLessThan(to);
      }),
    );
  });
});
