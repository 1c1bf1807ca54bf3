import { expect, test } from 'vitest';
import { categoryWord, countsOf } from './categories.ts';
import { kindOf } from './found-words.ts';
import { keptGone } from './kept-gone.ts';
import { reasonsOf } from './reasons.ts';

test('each reason is a short sentence; without one there is none', () => {
  expect(reasonsOf({ words: ['spare', 'key', 'boat'], beside: ['tent'], timely: true })).toEqual([
    'Mentions “spare”, “key”, and “boat”',
    '“tent” mentioned nearby',
    'From the time you mentioned',
  ]);
  expect(reasonsOf({ words: [], beside: [], timely: false, alike: 0.874 })).toEqual(['Similar meaning: 87%']);
  expect(reasonsOf({ words: [], beside: [], timely: false })).toEqual(['Related to other results']);
});

test('what was found is named', () => {
  expect(kindOf({ kind: 'memory', category: 'task' })).toBe('Task');
  expect(kindOf({ kind: 'message', speaker: 'user' })).toBe('Your message');
  expect(kindOf({ kind: 'message', speaker: 'Ana' })).toBe('Message from Ana');
  expect(kindOf({ kind: 'message', speaker: 'constructor' })).toBe('Message from constructor');
  expect(kindOf({ kind: 'day' })).toBe('Daily notes');
});

test('categories are counted in their order; one of a later build has its own name', () => {
  expect(countsOf({ task: 2, fact: 1 })).toEqual([
    { category: 'fact', count: 1 },
    { category: 'task', count: 2 },
  ]);
  expect([categoryWord('fact'), categoryWord('mood'), categoryWord('toString')]).toEqual(['Fact', 'mood', 'toString']);
});

test('items that can be restored keep their position in a reloaded list', () => {
  const list = (ids: string) => [...ids].map((id) => ({ id }));
  const kept = (before: string, after: string, stays: string): string =>
    keptGone(list(before), list(after), ({ id }) => stays.includes(id))
      .map(({ id }) => id)
      .join('');
  expect(kept('abcd', 'acd', 'b')).toBe('abcd');
  expect(kept('abcd', 'acd', '')).toBe('acd');
  expect(kept('abcd', '', 'ad')).toBe('ad');
  expect(kept('abc', 'xab', 'c')).toBe('xacb');
  expect(kept('ab', 'ab', 'ab')).toBe('ab');
});
