import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FEATURES, findTestsOfFeatures, JOURNEYS, LONG_UNIT_TESTS, SLOWEST_FIRST } from './suites.ts';

const root = join(import.meta.dirname, '../..');

test('every test that a suite names exists', () => {
  const named = [
    ...JOURNEYS,
    ...LONG_UNIT_TESTS,
    ...SLOWEST_FIRST,
    ...FEATURES.flatMap(([, names]) => names.map((name) => `tests/e2e/${name}.test.ts`)),
  ];
  expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});

test('a changed feature names its end-to-end tests, each once; tests and documents name none', () => {
  expect(findTestsOfFeatures(['web/features/usage/Page.svelte', 'web/features/usage/usage-csv.ts'])).toEqual(['tests/e2e/usage.test.ts']);
  expect(findTestsOfFeatures(['web/features/usage/usage-csv.test.ts', 'docs/usage.md', 'web/gateway/providers/usage.test.ts'])).toEqual([]);
});
