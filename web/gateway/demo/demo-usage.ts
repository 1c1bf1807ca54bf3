import type { UsageRecord } from '../storage/vault-interface.ts';
import { DAY_MS } from './demo-time.ts';
import { SAMPLE_KEY_ID } from './demo-records.ts';

const USAGE_DAYS = 45;
/** USD per input token and output token. */
const MODEL_PRICES = [
  { model: 'demo/scripted', input: 2.5e-6, output: 10e-6 },
  { model: 'demo/scripted-small', input: 0.5e-6, output: 2e-6 },
];

/**
 * Made-up calls of the 45 days before `now` (milliseconds since 1970): more on weekdays, the same at each start. Every ninth is by the
 * sample API key, the others belong to one of `sessionKeys`.
 */
export function createDemoUsage(now: number, sessionKeys: readonly string[]): UsageRecord[] {
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
        ...((day + call) % 9 === 0
          ? { sessionKey: null, principal: `key:${SAMPLE_KEY_ID}` }
          : { sessionKey: sessionKeys[(day * 5 + call) % sessionKeys.length] ?? null, principal: 'owner' }),
        usage: {
          ...{ inputTokens, outputTokens, totalTokens: inputTokens + outputTokens, cacheReadTokens },
          cost: (inputTokens - 0.9 * cacheReadTokens) * input + outputTokens * output,
        },
      });
    }
  }
  return records;
}
