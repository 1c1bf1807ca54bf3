import { expect, test } from 'vitest';
import { compareTitles } from './compare-titles.ts';

test('pages stand by the titles that are read', () => {
  const titles = ['Wiki', 'bin', 'Day 10', 'Éclair', 'Day 2', 'ana', 'Ferry'].map((title) => ({ title }));
  expect(titles.sort(compareTitles).map(({ title }) => title)).toEqual(['ana', 'bin', 'Day 2', 'Day 10', 'Éclair', 'Ferry', 'Wiki']);
});
