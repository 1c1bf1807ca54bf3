import { expect, test } from 'vitest';
import { getReplyFacts, formatUsage } from './reply-facts.ts';

const usage = { inputTokens: 1200, outputTokens: 300, totalTokens: 1500 };

test('tokens, with the cost where that is known', () => {
  expect(formatUsage({})).toBe('');
  expect(formatUsage({ usage })).toBe('1,500 tokens');
  expect(formatUsage({ usage: { ...usage, estimated: true } })).toBe('1,500 tokens (estimated)');
  expect(formatUsage({ usage: { ...usage, cost: 0.00125 } })).toBe('1,500 tokens · $0.00125');
});

test('in full, with how fast it was', () => {
  const facts = getReplyFacts(
    { usage: { ...usage, cacheReadTokens: 1000, cacheWriteTokens: 150, cost: 2 }, elapsedMs: 12_000, timestamp: 0 },
    'Told',
  );
  expect(facts.slice(0, -1)).toEqual([
    ['Model', 'Told'],
    ['Input tokens', '1,200'],
    ['Cached input', '1,000'],
    ['Written to cache', '150'],
    ['Output tokens', '300'],
    ['Token count', 'From the provider'],
    ['Cost', '$2.00'],
    ['Time', '12 s'],
    ['Speed', '25 tokens/s'],
  ]);
  expect(getReplyFacts({ timestamp: 0 }, null).map(([name]) => name)).toEqual(['Date']);
});
