import { expect, it } from 'vitest';
import { formatErrorBody } from './http/error-body.ts';
import { truncateText, formatValuePath, truncateMiddle } from './truncate-text.ts';
import { RpcError } from './rpc/rpc-error.ts';

it('cuts what a caller sent, and no character in two', () => {
  expect(truncateText('a'.repeat(128))).toBe('a'.repeat(128));
  expect(truncateText('a'.repeat(1_000_000))).toBe(`${'a'.repeat(128)}…`);
  expect(truncateText('😀'.repeat(3), 3)).toBe('😀…');
  expect(formatValuePath(['agents', 'x'.repeat(1000), 0])).toBe(`agents.${'x'.repeat(128)}….0`);
});

it('keeps the beginning and the end of a text', () => {
  expect(truncateMiddle('x'.repeat(100), 100)).toHaveLength(100);
  const cut = truncateMiddle(`${'a'.repeat(500)}${'b'.repeat(501)}`, 200);
  expect(cut.length).toBeLessThanOrEqual(200);
  expect(cut).toMatch(/^a+\n\[… 851 characters omitted …\]\nb+$/);
});

it('no error travels with a sentence that is longer than a person reads', () => {
  const long = 'x'.repeat(1_000_000);
  expect(new RpcError('NOT_FOUND', `There is no ${long}`).toShape().message.length).toBeLessThanOrEqual(2000);
  const { error } = formatErrorBody('invalid_request_error', `${long}: is not known here`, { param: long });
  expect(error).toMatchObject({ message: `${'x'.repeat(128)}…: is not known here`, param: `${'x'.repeat(128)}…` });
  expect(formatErrorBody('not_found', `There is no model "${long}"`).error.message.length).toBeLessThanOrEqual(2000);
});
