import { expect } from 'vitest';
import { dreamMonth } from '../bench/dreaming/dream-month.ts';
import { verifies } from '../requirements.ts';

verifies('dreaming.exam/month', 'five days with dreaming answer more with fewer tokens, and nothing from outside is kept', async () => {
  const { days, untrusted, leaked, promoted } = await dreamMonth({ seed: 1, days: 5 });
  const last = days.at(-1);
  expect(untrusted).toEqual([]);
  expect(leaked).toEqual([]);
  expect(promoted).toBeGreaterThan(0);
  for (const { day, before, after } of days) expect(after.accuracy, `day ${day}`).toBeGreaterThanOrEqual(before.accuracy - 1);
  expect(last?.after.accuracy).toBeGreaterThanOrEqual((last?.undreamt.accuracy ?? 0) + 10);
  expect(last?.after.tokens).toBeLessThanOrEqual((last?.undreamt.tokens ?? 0) * 0.7);
});
