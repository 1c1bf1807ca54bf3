import { expect, test } from 'vitest';
import { ATTACHMENT_LIMITS, bytes, refusal } from './limits.ts';

const MB = 1024 * 1024;
const file = (size: number, type = 'application/pdf') => ({ name: 'a file', type, size });

test('files up to the limits are taken', () => {
  expect(refusal(file(16 * MB), [])).toBeNull();
  expect(refusal(file(6 * MB, 'image/png'), [])).toBeNull();
  expect(refusal(file(2 * MB), [{ size: 16 * MB }])).toBeNull();
});

test.each([
  ['too large', refusal(file(16 * MB + 1), []), /16 MB/],
  ['an image too large', refusal(file(6 * MB + 1, 'image/png'), []), /6 MB/],
  ['too much together', refusal(file(3 * MB), [{ size: 16 * MB }]), /18 MB/],
  ['empty', refusal(file(0), []), /empty/],
  [
    'too many',
    refusal(
      file(1),
      Array.from({ length: ATTACHMENT_LIMITS.count }, () => ({ size: 1 })),
    ),
    /50 files/,
  ],
])('%s is refused, with the limit named', (_name, reason, expected) => {
  expect(reason).toMatch(expected);
});

test('sizes are written for people', () => {
  expect([bytes(5), bytes(5.3 * 1024), bytes(7 * MB), bytes(300 * MB)]).toEqual(['5 B', '5.3 KB', '7.0 MB', '300 MB']);
});
