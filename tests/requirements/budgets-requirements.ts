import { chosenSection } from './requirement.ts';

/** Limits for usage and cost. */
export const budgets = [
  chosenSection('decisions, "Budgets"', {
    'budgets/sums':
      'Calls count for the vault and for their agent, job, channel, key and chat, in the day and month of the configured time zone.',
    'budgets/periods': 'Days and months begin at midnight of the time zone, also when clocks change and at the end of a month.',
    'budgets/stop': 'A reply stops before a model call if one of its budgets is used up; what it has written is kept.',
    'budgets/sentence': 'The error names the budget, the amounts, when it resets, and what to do.',
    'budgets/http': '`/v1` answers 429 insufficient_quota while the budget of the vault or the key is used up.',
    'budgets/fast-path': 'The bridge makes no calls without the host while the vault has a budget.',
    'budgets/continue': 'A person can continue for the rest of the day; no program can.',
    'budgets/warn-once': 'At 80 % people are told once per budget and period, also across a restart.',
    'budgets/restart': 'Sums, limits and decisions are the same after a restart, and include what other hosts have recorded.',
    'budgets/input': 'Amounts that are negative or not finite, and unknown scopes, are refused.',
    'budgets/forecast': 'The forecast is the mean pace of the period so far, once enough of it has passed.',
    'budgets/app': 'The app shows the budgets, and a stopped reply offers to raise the budget or to continue.',
  }),
];
