import { expect, it } from 'vitest';
import { documentFilter, matchesFilter, toAttributes } from './document-filter.ts';

const attributes = toAttributes(
  {
    ...{ id: 'c-1', collectionId: 'c', sourceId: 'files', path: 'sea/whales.md', title: 'Whales', mimeType: '', size: 120 },
    ...{ modifiedAt: null, addedAt: 1_700_000_000_500, status: 'indexed' },
  },
  'Library',
);

it.each([
  [{ type: 'eq', key: 'filename', value: 'whales.md' }, true],
  [{ type: 'eq', key: 'size', value: '120' }, false],
  [{ type: 'ne', key: 'title', value: 'Seals' }, true],
  [{ type: 'gt', key: 'added_at', value: 1_700_000_000 }, false],
  [{ type: 'gte', key: 'added_at', value: 1_700_000_000 }, true],
  [{ type: 'lt', key: 'title', value: 'X' }, true],
  [{ type: 'lte', key: 'title', value: 5 }, false],
  [{ type: 'in', key: 'collection', value: ['Papers', 'Library'] }, true],
  [{ type: 'nin', key: 'path', value: ['seals.md'] }, true],
  // An attribute that the document lacks matches nothing.
  [{ type: 'ne', key: 'modified_at', value: 5 }, false],
  [{ type: 'nin', key: 'constructor', value: [5] }, false],
  [
    {
      type: 'or',
      filters: [
        { type: 'eq', key: 'url', value: '' },
        { type: 'and', filters: [] },
      ],
    },
    true,
  ],
  [{ type: 'or', filters: [] }, false],
])('%j is %s', (filter, expected) => {
  expect(matchesFilter(documentFilter.parse(filter), attributes)).toBe(expected);
});

it('refuses a filter that is nested too deeply', () => {
  let filter: object = { type: 'eq', key: 'path', value: 'a' };
  for (let depth = 0; depth < 101; depth++) filter = { type: 'and', filters: [filter] };
  expect(documentFilter.safeParse(filter).error?.issues).toMatchObject([{ message: expect.stringContaining('100 conditions') }]);
});
