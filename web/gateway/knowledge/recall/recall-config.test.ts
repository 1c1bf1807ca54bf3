import { expect } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { ActiveRecallConfig } from './recall-config.ts';

verifies('recall.config/fields', 'the samples are the defaults', () => {
  const samples = {
    enabled: true,
    queryMode: 'RECENT',
    promptStyle: 'BALANCED',
    maxSummaryChars: 220,
    recentUserTurns: 2,
    recentAssistantTurns: 1,
    cacheTtlMs: 15_000,
  };
  expect({ ...new ActiveRecallConfig() }).toEqual(samples);
  expect({ ...new ActiveRecallConfig({ query_mode: 'FULL', max_summary_chars: 100 }) }).toEqual({
    ...samples,
    queryMode: 'FULL',
    maxSummaryChars: 100,
  });
  expect({ ...new ActiveRecallConfig({ queryMode: 'FULL', maxSummaryChars: 100 }) }).toEqual({
    ...samples,
    queryMode: 'FULL',
    maxSummaryChars: 100,
  });
  expect(new ActiveRecallConfig(new ActiveRecallConfig({ cacheTtlMs: 0 })).cacheTtlMs).toBe(0);
  for (const [given, complaint] of [
    [{ colour: 'red' }, 'Unknown setting `colour`.'],
    [{ maxSummaryChars: 'many' }, '`max_summary_chars` must be a number'],
    [{ recentUserTurns: -1 }, '`recent_user_turns` '],
    [{ prompt_style: 'LOUD' }, '`prompt_style` '],
  ] as const)
    expect(() => new ActiveRecallConfig(given), JSON.stringify(given)).toThrow(complaint);
});
