import { expect, test } from 'vitest';
import { getCategoryLabel, toCategoryCounts } from './memory-categories.ts';
import { getHitKindLabel } from './search-hit-labels.ts';
import { mergeRemoved } from './merge-removed.ts';
import { getRecallReasons } from './recall-reasons.ts';

test('each reason is a short sentence; without one there is none', () => {
  expect(getRecallReasons({ words: ['spare', 'key', 'boat'], beside: ['tent'], timely: true })).toEqual([
    'Mentions “spare”, “key”, and “boat”',
    '“tent” mentioned nearby',
    'From the time you mentioned',
  ]);
  expect(getRecallReasons({ words: [], beside: [], timely: false, alike: 0.874 })).toEqual(['Similar meaning: 87%']);
  expect(getRecallReasons({ words: [], beside: [], timely: false })).toEqual(['Related to other results']);
});

test('what was found is named', () => {
  expect(getHitKindLabel({ kind: 'memory', category: 'task' })).toBe('Task');
  expect(getHitKindLabel({ kind: 'message', speaker: 'user' })).toBe('Your message');
  expect(getHitKindLabel({ kind: 'message', speaker: 'Ana' })).toBe('Message from Ana');
  expect(getHitKindLabel({ kind: 'message', speaker: 'constructor' })).toBe('Message from constructor');
  expect(getHitKindLabel({ kind: 'day' })).toBe('Daily notes');
});

test('categories are counted in their order; one of a later build has its own name', () => {
  expect(toCategoryCounts({ task: 2, fact: 1 })).toEqual([
    { category: 'fact', count: 1 },
    { category: 'task', count: 2 },
  ]);
  expect([getCategoryLabel('fact'), getCategoryLabel('mood'), getCategoryLabel('toString')]).toEqual(['Fact', 'mood', 'toString']);
});

test('items that can be restored keep their position in a reloaded list', () => {
  const list = (ids: string) => [...ids].map((id) => ({ id }));
  const mergeTexts = (before: string, after: string, stays: string): string =>
    mergeRemoved(list(before), list(after), ({ id }) => stays.includes(id))
      .map(({ id }) => id)
      .join('');
  expect(mergeTexts('abcd', 'acd', 'b')).toBe('abcd');
  expect(mergeTexts('abcd', 'acd', '')).toBe('acd');
  expect(mergeTexts('abcd', '', 'ad')).toBe('ad');
  expect(mergeTexts('abc', 'xab', 'c')).toBe('xacb');
  expect(mergeTexts('ab', 'ab', 'ab')).toBe('ab');
});
