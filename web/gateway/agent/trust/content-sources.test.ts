import { expect } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { isGranted } from '../tools/tool-policy.ts';
import { mergeSources, normalizeSources, toSource } from './content-sources.ts';

verifies('injection/grants', 'do not cover sources beyond those that a label has room for', () => {
  const own = Array.from({ length: 19 }, (_, index) => `web:n${index}.corp.test`);
  const grants = { afterReading: { file_write: ['web:*.corp.test'] } } as unknown as Parameters<typeof isGranted>[0];
  const many = mergeSources(own, ['web:n19.corp.test'], ['web:evil.test']);
  expect(many).toHaveLength(20);
  expect(isGranted(grants, 'file_write', own)).toBe(true);
  expect(isGranted(grants, 'file_write', many)).toBe(false);
  expect(mergeSources(many, own)).toEqual(many);
  const allGranted = { afterReading: { file_write: [...many] } } as unknown as Parameters<typeof isGranted>[0];
  expect(isGranted(allGranted, 'file_write', many)).toBe(false);
});

verifies('injection/grants', 'take names literally: a source has no asterisk, and one in a file has a known kind', () => {
  expect(toSource('document', '*')).toBe('document:_');
  expect(normalizeSources(['web:*', '*', 'owner:me', 'web: a\n b', 'import:x'])).toEqual(['web:_', 'web:a b', 'import:x']);
});
