import { expect, it } from 'vitest';
import { isolatePlaceholders } from './isolate.ts';

it('isolates names in a right-to-left sentence, and not numbers', () => {
  const [from, plain] = isolatePlaceholders([({ name, count }) => `${String(count)} من ${String(name)}`, () => 'نعم']);
  expect(from?.({ name: 'notes.md', count: 3 })).toBe('3 من \u2068notes.md\u2069');
  expect(from?.({ name: '1,250.5', count: '3' })).toBe('3 من 1,250.5');
  expect((plain as () => string)()).toBe('نعم');
});
