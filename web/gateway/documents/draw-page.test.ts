import { expect } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { findQuote } from './draw-page.ts';

const toItems = (...texts: string[]): { str: string }[] => texts.map((str) => ({ str }));
const findTexts = (texts: string[], quote: string): string[] =>
  findQuote(toItems(...texts), quote).map(({ item, start, end }) => item.str.slice(start, end));

verifies('collections/drawn-page', 'a quote is found across pieces, hyphens, ligatures and the marks of Markdown', () => {
  const line = ['The north bank was sur-', 'veyed on 3 May, and', ' ', '42 herons were counted.'];
  expect(findTexts(line, 'north bank was surveyed on 3 May')).toEqual(['north bank was sur', 'veyed on 3 May']);
  expect(findTexts(['The ﬁrst oﬃce'], 'first office')).toEqual(['ﬁrst oﬃce']);
  expect(findTexts(['Bank', 'Herons', 'North', '42'], '| Bank | Herons |\n| --- | --- |\n| North | 42 |')).toEqual([
    'Bank',
    'Herons',
    'North',
    '42',
  ]);
  expect(findTexts(['Die 🐦 sang, 𝒙 auch'], '𝒙 auch')).toEqual(['𝒙 auch']);
  expect(findTexts(line, 'south bank')).toEqual([]);
  expect(findTexts(line, '')).toEqual([]);
  expect(findTexts(line, '—')).toEqual([]);
});
