import { expect, test } from 'vitest';
import { isComposed, toLinkPolicy, STREAMING_POLICY } from './composed-links.ts';

test('without outside content, and once a person has reviewed it, no link asks before it opens', () => {
  expect(toLinkPolicy({})).toBeUndefined();
  expect(toLinkPolicy({ outside: [], quotedUrls: [] })).toBeUndefined();
});

test.each([
  ['https://pages.test/tulips', false],
  ['https://PAGES.test/tulips', false],
  ['https://pages.test/tulips#', false],
  ['https://pages.test/tulips#secret', true],
  ['http://pages.test/tulips', true],
  ['https://pages.test/tulips?note=secret', true],
  ['https://pages.test/tulips/', true],
  ['https://secret.pages.test/', true],
  ['mailto:ana@pages.test', false],
  ['mailto:ana@pages.test?body=secret', true],
  ['mailto:secret@evil.test', true],
  ['tel:+123', true],
  ['not an address', false],
])('%s was composed: %s', (url, composed) => {
  const policy = toLinkPolicy({ outside: ['web:pages.test'], quotedUrls: ['https://pages.test/tulips', 'mailto:ana@pages.test'] });
  expect(policy && isComposed(url, policy)).toBe(composed);
});

test('every address counts as composed if none is known, and while a reply is being written', () => {
  const policy = toLinkPolicy({ outside: ['web:pages.test'] });
  expect(policy && isComposed('https://pages.test/', policy)).toBe(true);
  expect(isComposed('https://pages.test/', STREAMING_POLICY)).toBe(true);
});
