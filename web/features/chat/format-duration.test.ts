import { expect, test } from 'vitest';
import { formatThinkingTime } from './format-duration.ts';

test.each([
  [0, 'Thought for a moment'],
  [999, 'Thought for a moment'],
  [1_000, 'Thought for 1 s'],
  [12_400, 'Thought for 12 s'],
  [59_600, 'Thought for 1 min'],
  [125_000, 'Thought for 2 min 5 s'],
])('%i ms', (ms, words) => expect(formatThinkingTime(ms)).toBe(words));
