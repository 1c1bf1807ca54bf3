import { join } from 'node:path';
import { expect, test } from 'vitest';
import { requirements } from '../requirements.ts';
import { findCitations, findCitationsUnder } from './citations.ts';

const root = join(import.meta.dirname, '../..');
const citations = findCitationsUnder(root, ['shared', 'web', 'bridge', 'tests']).filter(
  ({ file }) => file !== 'tests/unit/requirements.test.ts',
);

test('every requirement has an id of its own', () => {
  const ids = requirements.map(({ id }) => id);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  expect(ids.filter((id) => !/^[a-z][\w.-]*\/[a-z0-9-]+$/.test(id))).toEqual([]);
});

test('tests cite requirements that exist, by literal ids', () => {
  const requirementIds = new Set(requirements.map(({ id }) => id));
  expect(citations.filter(({ id }) => id === null || !requirementIds.has(id))).toEqual([]);
});

test('every requirement is verified by a test', () => {
  const cited = new Set(citations.map(({ id }) => id));
  expect(requirements.filter(({ id }) => !cited.has(id)).map(({ id, text }) => `${id}: ${text}`)).toEqual([]);
});

test('citations are read from one id, several, and across lines; what is no literal is found out', () => {
  expect(
    findCitations(`verifies('a/b', 'x', f); verifies(['a/c', 'a/d'], 'y', f)\nverifies(\n  'e/f',\n  'z', f)`, 't').map(({ id }) => id),
  ).toEqual(['a/b', 'a/c', 'a/d', 'e/f']);
  expect(findCitations('verifies(name, x)', 't')).toEqual([{ file: 't', id: null }]);
});
