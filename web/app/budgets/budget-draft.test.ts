import { expect, it } from 'vitest';
import { toBudgetDraft, toBudgetLimits } from './budget-draft.ts';

it('keeps what is set, 0 included, and nothing else', () => {
  const limits = { day: { cost: 0 }, month: { tokens: 5, cost: 1.5 } };
  expect(toBudgetLimits(toBudgetDraft(limits))).toEqual(limits);
  expect(toBudgetDraft(limits).day).toEqual({ cost: 0, tokens: null });
  expect(toBudgetLimits(toBudgetDraft())).toBeNull();
});
