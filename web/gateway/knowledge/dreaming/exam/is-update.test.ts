import { expect } from 'vitest';
import { verifies } from '../../../../../tests/requirements.ts';
import { isUpdate } from './is-update.ts';

verifies('dreaming.exam/updates', 'a later statement about the same thing replaces an earlier one', () => {
  const updates = [
    ['Anna lives in Lisbon.', 'Anna moved to Porto.'],
    ['Anna is living in Lisbon.', 'Anna lives in Porto now.'],
    ["Katya's dentist is Dr Duarte.", "Correction: Katya's dentist is Dr Petrov."],
    ['Project Atlas has Xanthe as its lead.', 'The lead of project Atlas is Yolanda now.'],
    ['The budget of project Atlas is 4000 euros.', 'The budget of project Atlas is 5200 euros.'],
    ['Anna wohnt in Lissabon.', 'Anna wohnt jetzt in Porto.'],
    ['Le bureau de Luc est à Nantes.', 'Le bureau de Luc est désormais à Lyon.'],
  ] as const;
  expect(updates.filter(([earlier, later]) => !isUpdate(earlier, later))).toEqual([]);
  const others = [
    ['Anna lives in Lisbon.', 'Boris lives in Porto now.'],
    ['The lead of project Atlas is Vaughan.', 'The lead of project Borealis is Yolanda now.'],
    ['The deadline of project Atlas is 15 October.', 'The deadline of project Comet is 16 October.'],
    ['Anna likes tea.', 'Anna likes coffee.'],
    ['Anna lives in Lisbon.', 'Anna lives in Lisbon now.'],
    ['Anna lives in Lisbon.', "Anna's brother moved to Porto."],
    ['Anna was born in Madrid.', 'Anna lives in Seville now.'],
  ] as const;
  expect(others.filter(([earlier, later]) => isUpdate(earlier, later))).toEqual([]);
});
