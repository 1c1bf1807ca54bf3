import { expect, test } from 'vitest';
import { ATTACHMENT_LIMITS, formatBytes, getAttachmentError } from './attachment-limits.ts';

const MB = 1024 * 1024;
const file = (size: number, type = 'application/pdf') => ({ name: 'a file', type, size });

test('files up to the limits are taken', () => {
  expect(getAttachmentError(file(16 * MB), [])).toBeNull();
  expect(getAttachmentError(file(6 * MB, 'image/png'), [])).toBeNull();
  expect(getAttachmentError(file(2 * MB), [{ size: 16 * MB }])).toBeNull();
});

test.each([
  ['too large', getAttachmentError(file(16 * MB + 1), []), /16 MB/],
  ['an image too large', getAttachmentError(file(6 * MB + 1, 'image/png'), []), /6 MB/],
  ['too much together', getAttachmentError(file(3 * MB), [{ size: 16 * MB }]), /18 MB/],
  ['empty', getAttachmentError(file(0), []), /empty/],
  [
    'too many',
    getAttachmentError(
      file(1),
      Array.from({ length: ATTACHMENT_LIMITS.count }, () => ({ size: 1 })),
    ),
    /50 files/,
  ],
])('%s is refused, with the limit named', (_name, reason, expected) => {
  expect(reason).toMatch(expected);
});

test('sizes are written for people', () => {
  expect([formatBytes(5), formatBytes(5.3 * 1024), formatBytes(7 * MB), formatBytes(300 * MB)]).toEqual([
    '5 B',
    '5.3 KB',
    '7.0 MB',
    '300 MB',
  ]);
});
