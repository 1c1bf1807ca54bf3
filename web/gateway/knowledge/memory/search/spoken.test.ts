import { describe, expect, it } from 'vitest';
import { verifies } from '../../../../../tests/requirements.ts';
import { MemorySearch } from './memory-search.ts';
import { parseSpoken, toMemoryThread } from './spoken.ts';

const DAY = 86_400_000;
const NOON = Date.UTC(2026, 4, 8, 12);

describe('single lines of a conversation', () => {
  it('have the leading name as their speaker', () => {
    const parse = (text: string): unknown => parseSpoken({ text });
    expect(parse('Ada: I moved to Riga.')).toMatchObject({ speaker: 'Ada', text: 'I moved to Riga.' });
    expect(parse('[8 May 2026, 10:00] Ada Byron: Hello')).toEqual({ speaker: 'Ada Byron', text: 'Hello', date: '8 May 2026, 10:00' });
    expect(parse('2026-05-08 10:00 Ada: Hello')).toEqual({ speaker: 'Ada', text: 'Hello', date: '2026-05-08' });
    expect(parse('葵：犬を飼いました。')).toMatchObject({ speaker: '葵', text: '犬を飼いました。' });
    expect(parse('user: Book a table')).toMatchObject({ speaker: 'user', text: 'Book a table' });
  });

  it('have none if the colon is part of the text', () => {
    for (const text of [
      'tone: friendly',
      'The train leaves at 10:30',
      'See https://example.org/a',
      'Three things matter to me here: a, b and c',
      'Ada:',
      '2026-05-08 We moved',
    ])
      expect(parseSpoken({ text })).toEqual({ speaker: undefined, text, date: undefined });
    expect(parseSpoken({ speaker: 'Bo', text: 'Ada: she said so' })).toMatchObject({ speaker: 'Bo', text: 'Ada: she said so' });
  });

  it('belong together if they were written in the same hour; other memories stand alone', () => {
    const thread = (text: string, createdAt: number): string => toMemoryThread({ id: text, text, createdAt });
    expect(thread('Ada: Hello', NOON)).toBe(thread('Bo: Hi', NOON + 60_000));
    expect(thread('Ada: Hello', NOON)).not.toBe(thread('Ada: Hello', NOON + DAY));
    expect(thread('The cat is called Miso', NOON)).toBe('The cat is called Miso');
  });

  verifies('memory.search/lines', 'are found by the question before them, and rank the person asked about first', () => {
    const search = new MemorySearch();
    const lines = ['Bo: Which instrument are you learning?', 'Ada: The theremin, an hour a day.', 'Bo: I like an instrument, too.'];
    for (const [nth, text] of lines.entries())
      search.add({ id: String(nth), text, at: null, writtenAt: NOON, thread: toMemoryThread({ id: String(nth), text, createdAt: NOON }) });
    expect(search.search('Which instrument does Ada learn?', { now: NOON + DAY })[0]?.passage.id).toBe('1');
  });
});

verifies('memory.search/lines', 'a memory that does not age is found by the day that it means', () => {
  const search = new MemorySearch();
  for (let nth = 0; nth < 20; nth++)
    search.add({
      id: `m${nth}`,
      thread: `m${nth}`,
      text: 'We had dinner with the neighbours yesterday',
      at: null,
      writtenAt: NOON - nth * 30 * DAY,
    });
  const found = search.search('Dinner with neighbours on 7 April 2026', { now: NOON + DAY });
  expect([found[0]?.passage.id, found[0]?.why.timely]).toEqual(['m1', true]);
});

verifies('memory.search/lines', 'a line with its own date is found by the day that it means from there', () => {
  const search = new MemorySearch();
  for (let month = 1; month <= 6; month++)
    search.add({
      id: `${month}`,
      thread: 'written',
      text: `[8 ${month === 4 ? 'April' : 'June'} 2025] Ada: We had dinner yesterday`,
      at: NOON,
    });
  expect(search.search('Dinner of Ada on 7 April 2025', { now: NOON + DAY })[0]?.passage.id).toBe('4');
});
