import { budgetPeriod } from '../budget-period.ts';
import { defineMethod } from '../contract.ts';
import { z } from '../zod.ts';

const MAX_USD = 1_000_000;
const MAX_TOKENS = 1_000_000_000_000;

const amounts = z.strictObject({
  /** USD. */
  cost: z.number().min(0).max(MAX_USD).optional(),
  /** Input and output tokens. */
  tokens: z.number().int().min(0).max(MAX_TOKENS).optional(),
});

/** The limits of a budget, per day and per month of the configured time zone. */
const budgetLimits = z.strictObject({ day: amounts.optional(), month: amounts.optional() });
export type BudgetLimits = z.infer<typeof budgetLimits>;

export const BUDGET_MEASURES = ['cost', 'tokens'] as const;
const budgetMeasure = z.enum(BUDGET_MEASURES);
export type BudgetMeasure = z.infer<typeof budgetMeasure>;

/** Scope of a budget: `vault`, `agent:<id>`, `job:<id>`, `channel:<id>`, `key:<id>` or `chat:<agentId>/<sessionId>`. */
export const budgetScope = z
  .string()
  .max(300)
  .regex(/^(vault|(agent|job|channel|key):[A-Za-z0-9_.-]{1,128}|chat:[A-Za-z0-9_-]{1,128}\/[A-Za-z0-9_-]{1,128})$/, {
    error: 'must be vault, agent:<id>, job:<id>, channel:<id>, key:<id> or chat:<agentId>/<sessionId>',
  });

/** A limit and how much of it is used. */
export const budgetGauge = z.object({
  period: budgetPeriod,
  measure: budgetMeasure,
  limit: z.number(),
  used: z.number(),
  /** `near` from 80 %; `reached` from 100 %, when replies stop; `continued` if a person has continued for today. */
  state: z.enum(['ok', 'near', 'reached', 'continued']),
  /** End of the period in milliseconds since the Unix epoch. */
  resetsAt: z.number(),
});
export type BudgetGauge = z.infer<typeof budgetGauge>;

const budget = z.object({
  scope: budgetScope,
  /** Name of the agent, job, channel, key or chat; null for the vault. */
  name: z.string().nullable(),
  limits: budgetLimits,
  gauges: z.array(budgetGauge),
});
export type Budget = z.infer<typeof budget>;

const spending = z.object({ cost: z.number(), tokens: z.number() });
const periodUsage = spending.extend({
  /** Calls of models without a known price, which count as 0 USD. */
  unpricedCalls: z.number().int(),
  startedAt: z.number(),
  resetsAt: z.number(),
  /** Expected usage at the end of the period at the mean pace so far; null while too little of the period has passed. */
  forecast: spending.nullable(),
});
export type PeriodUsage = z.infer<typeof periodUsage>;

/** Limits for usage and cost. */
export const budgetContracts = {
  'budgets.list': defineMethod({
    params: z.strictObject({ scope: budgetScope.optional() }),
    result: z.object({ budgets: z.array(budget), usage: z.object({ day: periodUsage, month: periodUsage }) }),
    docs: 'Returns the budgets, or only that of `scope`, with how much is used, and the usage of the whole vault in the current day and month with its forecast.',
    policy: { scope: 'read' },
  }),
  'budgets.set': defineMethod({
    params: z.strictObject({ scope: budgetScope, limits: budgetLimits.nullable() }),
    result: z.object({ budget: budget.nullable() }),
    emits: ['budgets.changed'],
    docs: 'Sets the limits of a budget; null removes it. Replies stop before a model call if one of their budgets is used up.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin', controlPlane: true },
  }),
  'budgets.continue': defineMethod({
    params: z.strictObject({ scope: budgetScope, period: budgetPeriod }),
    result: z.object({ budget }),
    emits: ['budgets.changed'],
    docs: 'Allows replies for the rest of the day although the budget of that period is used up. Only for people.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin', controlPlane: true },
  }),
};
