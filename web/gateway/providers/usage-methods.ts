import { usageContracts } from '#shared/rpc/methods/usage-contracts.ts';
import type { Usage } from '#shared/rpc/record-schemas.ts';
import type { Clock } from '#shared/async/clock.ts';
import { defineMethods } from '../system/methods.ts';
import { listDates, createLocalTime } from '#shared/local-time.ts';
import { sumOptional } from './sum-usage.ts';
import type { UsageRecord, Vault } from '../storage/vault-interface.ts';

const DAY_MS = 24 * 60 * 60_000;

interface UsageMethodsDeps {
  vault: Pick<Vault, 'usage'>;
  clock: Clock;
  timeZone(): string;
}

interface UsageSums extends Pick<Usage, 'inputTokens' | 'outputTokens' | 'totalTokens' | 'cacheReadTokens' | 'cacheWriteTokens'> {
  calls: number;
  cost: number;
  estimatedCalls?: number;
}

export const usageMethods = defineMethods(usageContracts)(({ vault, clock, timeZone }: UsageMethodsDeps) => {
  /** The last days in the configured time zone, and the records of these days. */
  const readDays = async (days: number) => {
    const toLocalTime = createLocalTime(timeZone());
    const dates = listDates(toLocalTime(clock.now()).date, days);
    const [first = ''] = dates;
    // Daylight saving time changes the length of the period by hours only, so one more day is enough.
    const records = await vault.usage.since(clock.now() - (days + 1) * DAY_MS);
    const timed = records.map((record) => ({ record, ...toLocalTime(record.at) }));
    return { dates, calls: timed.filter(({ date }) => date >= first) };
  };

  return {
    'usage.get': async ({ days }) => {
      const records = (await readDays(days)).calls.map(({ record }) => record);
      const { cost, ...all } = computeSums(records);
      return {
        windowDays: days,
        sessions: new Set(records.flatMap(({ sessionKey }) => sessionKey ?? [])).size,
        ...all,
        estimatedCost: cost,
        byProvider: groupSums(records, ({ provider }) => provider),
        byModel: groupSums(records, ({ model }) => model),
        byKey: groupSums(
          records.filter(({ principal }) => principal.startsWith('key:')),
          ({ principal }) => principal.slice('key:'.length),
        ),
        byPurpose: groupSums(records, ({ purpose = 'chat' }) => purpose),
      };
    },

    'usage.daily': async ({ days }) => {
      const { dates, calls } = await readDays(days);
      const byDate = Map.groupBy(calls, ({ date }) => date);
      return { dailyBreakdown: dates.map((date) => ({ date, ...computeSums((byDate.get(date) ?? []).map(({ record }) => record)) })) };
    },

    'usage.hourly': async ({ days }) => {
      const hourlyDistribution = Array.from({ length: 24 }, () => 0);
      for (const { hour } of (await readDays(days)).calls) hourlyDistribution[hour] = (hourlyDistribution[hour] ?? 0) + 1;
      return { hourlyDistribution };
    },
  };
});

function computeSums(records: readonly UsageRecord[]): UsageSums {
  const sums: UsageSums = { calls: records.length, inputTokens: 0, outputTokens: 0, totalTokens: 0, cost: 0 };
  for (const { usage } of records) {
    sums.inputTokens += usage.inputTokens;
    sums.outputTokens += usage.outputTokens;
    sums.totalTokens += usage.totalTokens;
    sums.cost += usage.cost ?? 0;
    if (usage.estimated) sums.estimatedCalls = (sums.estimatedCalls ?? 0) + 1;
    for (const name of ['cacheReadTokens', 'cacheWriteTokens'] as const) {
      const sum = sumOptional(sums[name], usage[name]);
      if (sum !== undefined) sums[name] = sum;
    }
  }
  return sums;
}

const groupSums = (records: readonly UsageRecord[], key: (record: UsageRecord) => string): Record<string, UsageSums> =>
  Object.fromEntries([...Map.groupBy(records, key)].map(([name, group]) => [name, computeSums(group)]));
