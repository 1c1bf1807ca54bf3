import { expect } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { isLongPaste, createPasteFileName } from './pasted-text.ts';

verifies('app/long-paste', 'more than 4,000 characters or 80 lines is long', () => {
  expect([isLongPaste('a'.repeat(4_000)), isLongPaste('a'.repeat(4_001))]).toEqual([false, true]);
  expect([isLongPaste('a\n'.repeat(79)), isLongPaste('a\n'.repeat(80))]).toEqual([false, true]);
  expect(isLongPaste('')).toBe(false);
});

verifies('app/long-paste', 'each has a name of its own', () => {
  const files = [{ filename: 'pasted-text.txt' }, { filename: 'pasted-text-2.txt' }];
  expect([createPasteFileName([]), createPasteFileName(files)]).toEqual(['pasted-text.txt', 'pasted-text-3.txt']);
});
