import { expect } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { isLong, pastedName } from './pasted.ts';

verifies('app/long-paste', 'more than 4,000 characters or 80 lines is long', () => {
  expect([isLong('a'.repeat(4_000)), isLong('a'.repeat(4_001))]).toEqual([false, true]);
  expect([isLong('a\n'.repeat(79)), isLong('a\n'.repeat(80))]).toEqual([false, true]);
  expect(isLong('')).toBe(false);
});

verifies('app/long-paste', 'each has a name of its own', () => {
  const files = [{ filename: 'pasted-text.txt' }, { filename: 'pasted-text-2.txt' }];
  expect([pastedName([]), pastedName(files)]).toEqual(['pasted-text.txt', 'pasted-text-3.txt']);
});
