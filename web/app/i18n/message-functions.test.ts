import { expect, it } from 'vitest';
import { isolatePlaceholders } from './message-functions.ts';

it('isolates names in a right-to-left sentence, and counts by plural rules', () => {
  const m = isolatePlaceholders({
    from: (inputs: { name: unknown; count: unknown }) => `${String(inputs.count)} من ${String(inputs.name)}`,
    plain: (_inputs: object) => 'نعم',
  });
  expect(m.from({ name: 'notes.md', count: 3 })).toBe('3 من \u2068notes.md\u2069');
  expect(m.from({ name: '1,250.5', count: '3' })).toBe('3 من 1,250.5');
  expect(m.plain()).toBe('نعم');
});
