import { expect, test } from 'vitest';
import { getChanges, type DreamingDraft, mergeRemoteChanges, hasInvalidField, sumWeights, validateNumber } from './dreaming-settings.ts';

const scoringWeights = { frequency: 25, relevance: 20, diversity: 15, recency: 15, consolidation: 15, conceptual: 10 };
const draft: DreamingDraft = {
  ...{ enabled: false, cron: '0 3 * * *', timezone: 'UTC', storage: 'inline', promotion: 'propose', exam: 'rules', scoringWeights },
  ...{ limit: 10, minScore: 0.5, minRecallCount: 2, minUniqueQueries: 2, recencyHalfLifeDays: 7, maxAgeDays: 30 },
};

test.each([
  [5, undefined],
  [0, 'Enter a whole number from 1 to 1,000.'],
  [1.5, 'Enter a whole number from 1 to 1,000.'],
  [null, 'Enter a whole number from 1 to 1,000.'],
])('%s of 1 to 1,000: %s', (value, told) => {
  expect(validateNumber(value, { min: 1, max: 1000, step: 1 })).toBe(told);
});

test('one number out of its range, or no weight at all, and nothing can be saved', () => {
  expect(hasInvalidField(draft)).toBe(false);
  expect(hasInvalidField({ ...draft, minScore: 1.1 })).toBe(true);
  expect(hasInvalidField({ ...draft, scoringWeights: { ...scoringWeights, recency: -1 } })).toBe(true);
  const none = { frequency: 0, relevance: 0, diversity: 0, recency: 0, consolidation: 0, conceptual: 0 };
  expect(sumWeights(none)).toBe(0);
  expect(hasInvalidField({ ...draft, scoringWeights: none })).toBe(true);
});

test('what is another is saved alone; weights all six, as shares', () => {
  expect(getChanges(draft, draft)).toEqual({});
  const changed = { ...draft, limit: 5, scoringWeights: { ...scoringWeights, frequency: 40 } };
  expect(getChanges(changed, draft)).toEqual({
    limit: 5,
    scoringWeights: { frequency: 0.4, relevance: 0.2, diversity: 0.15, recency: 0.15, consolidation: 0.15, conceptual: 0.1 },
  });
});

test('takes over values set elsewhere, except while the field is edited', () => {
  const typed = { ...draft, limit: 5 };
  expect(mergeRemoteChanges(typed, draft, { ...draft, limit: 7, maxAgeDays: 60 })).toEqual({ ...draft, limit: 5, maxAgeDays: 60 });
});
