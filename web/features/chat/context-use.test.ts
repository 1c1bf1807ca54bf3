import { expect, test } from 'vitest';
import type { Compaction, HistoryMessage } from '#shared/rpc/record-schemas.ts';
import { estimateContextUse, sumCached } from './context-use.ts';

const said = (role: HistoryMessage['role'], timestamp: number, more: Partial<HistoryMessage> = {}): HistoryMessage => ({
  ...{ id: `${timestamp}`, role, content: 'x'.repeat(40), timestamp },
  ...more,
});
const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const compaction: Compaction = {
  ...{ summary: 'y'.repeat(80), trigger: 'manual', messages: 2, tokensBefore: 900, tokensAfter: 50, model: 'p/m', at: 3 },
};

test('what the last reply took is exact, what came behind it and what no provider counted is not', () => {
  const counted = [said('user', 1), said('assistant', 2, { contextTokens: 1234, usage })];
  expect(estimateContextUse(counted, true)).toEqual({ tokens: 1234, isEstimate: false });
  expect(estimateContextUse([...counted, said('user', 3)], false)).toEqual({ tokens: 1244, isEstimate: true });
  expect(estimateContextUse([said('assistant', 2, { contextTokens: 7, usage: { ...usage, estimated: true } })], false)).toEqual({
    tokens: 7,
    isEstimate: true,
  });
  expect(estimateContextUse([said('user', 1), said('assistant', 2)], false)).toEqual({ tokens: 20, isEstimate: true });
  expect(estimateContextUse([], false)).toEqual({ tokens: 0, isEstimate: false });
});

test('after a summary earlier counts are not shown', () => {
  const before = [said('user', 1, { compaction }), said('assistant', 2, { contextTokens: 1234, usage })];
  expect(estimateContextUse(before, false)).toEqual({ tokens: 30, isEstimate: true });
  expect(estimateContextUse([...before, said('user', 4), said('assistant', 5, { contextTokens: 60, usage })], false)).toEqual({
    tokens: 60,
    isEstimate: false,
  });
});

test('what was read from the cache is a share of the input of those that report it', () => {
  const replied = (cacheReadTokens?: number) =>
    said('assistant', 2, { usage: { ...usage, inputTokens: 100, ...(cacheReadTokens === undefined ? {} : { cacheReadTokens }) } });
  expect(sumCached([said('user', 1), replied(), replied()])).toBeUndefined();
  expect(sumCached([replied(), replied(0), replied(90)])).toEqual({ tokens: 90, share: 0.45 });
});
