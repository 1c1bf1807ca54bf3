import { expect } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { toUsageCsv } from './usage-csv.ts';

const sums = { calls: 2, inputTokens: 10, outputTokens: 5, totalTokens: 15, cost: 0.25 };
const cached = { ...sums, cacheReadTokens: 8, cacheWriteTokens: 1, estimatedCalls: 1 };

verifies('usage.app/csv', 'names with commas, quotes, breaks and formulas stay one harmless cell', () => {
  const csv = toUsageCsv({
    totals: {
      ...{ windowDays: 1, sessions: 1, calls: 2, totalTokens: 15, inputTokens: 10, outputTokens: 5, estimatedCost: 0.25 },
      byProvider: { 'a, "b"': sums },
      byModel: { '=1+1': cached, 'two\nlines': sums },
      byKey: {},
      byPurpose: {},
    },
    days: [{ date: '2026-11-20', ...sums }],
    hours: [0, 2],
  });
  expect(csv.split('\r\n')).toEqual([
    'kind,name,calls,input_tokens,output_tokens,total_tokens,cost_usd,cache_read_tokens,cache_write_tokens,estimated_calls',
    'day,2026-11-20,2,10,5,15,0.25,,,',
    'hour,00,0,,,,,,,',
    'hour,01,2,,,,,,,',
    'provider,"a, ""b""",2,10,5,15,0.25,,,',
    "model,'=1+1,2,10,5,15,0.25,8,1,1",
    'model,"two\nlines",2,10,5,15,0.25,,,',
    '',
  ]);
});
