import type { UsageRecord } from '../storage/vault-interface.ts';

const DAY_MS = 24 * 3_600_000;
const USAGE_DAYS = 30;
/** USD per input token and output token. */
const MODEL_PRICES = [
  { model: 'demo/scripted', input: 0.4e-6, output: 1.6e-6 },
  { model: 'demo/scripted-small', input: 0.1e-6, output: 0.4e-6 },
];

/** Made-up calls of the 30 days before `now` (milliseconds since 1970): more on weekdays, the same at each start. */
export function createDemoUsage(now: number): UsageRecord[] {
  const records: UsageRecord[] = [];
  for (let day = USAGE_DAYS; day > 0; day--) {
    const start = now - day * DAY_MS;
    const weekend = [0, 6].includes(new Date(start).getDay());
    const calls = (weekend ? 2 : 6) + ((day * 7) % 5);
    for (let call = 0; call < calls; call++) {
      const { model, input, output } = MODEL_PRICES[(day + call) % 3 === 0 ? 1 : 0] ?? MODEL_PRICES[0]!;
      const inputTokens = 400 + ((day * 131 + call * 977) % 2600);
      // The first call of a day finds an empty cache.
      const cacheReadTokens = call === 0 ? 0 : Math.floor(inputTokens * (0.55 + ((day * 13 + call * 29) % 40) / 100));
      const outputTokens = 60 + ((day * 57 + call * 311) % 700);
      records.push({
        id: `demo-${day}-${call}`,
        at: new Date(start).setHours(8 + ((day + call * 4) % 12), (call * 17) % 60),
        provider: 'demo',
        model,
        sessionKey: null,
        principal: 'owner',
        usage: {
          ...{ inputTokens, outputTokens, totalTokens: inputTokens + outputTokens, cacheReadTokens },
          cost: (inputTokens - 0.9 * cacheReadTokens) * input + outputTokens * output,
        },
      });
    }
  }
  return records;
}
