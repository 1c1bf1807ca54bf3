import { expect } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { isGranted } from '../tools/tool-policy.ts';
import { mergeSources } from './content-sources.ts';

verifies('injection/grants', 'do not cover sources beyond those that a label has room for', () => {
  const own = Array.from({ length: 19 }, (_, index) => `web:n${index}.corp.test`);
  const grants = { afterReading: { file_write: ['web:*.corp.test'] } } as unknown as Parameters<typeof isGranted>[0];
  const many = mergeSources(own, ['web:n19.corp.test'], ['web:evil.test']);
  expect(many).toHaveLength(20);
  expect(isGranted(grants, 'file_write', own)).toBe(true);
  expect(isGranted(grants, 'file_write', many)).toBe(false);
  expect(mergeSources(many, own)).toEqual(many);
});
