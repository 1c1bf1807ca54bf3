import type { usage } from '#shared/rpc/methods/usage.ts';
import type { Usage } from '#shared/rpc/records.ts';
import type { Clock } from '../clock.ts';
import type { Handlers } from '../dispatch.ts';
import { datesUpTo, localTime } from '../local-time.ts';
import { sumOptional } from '../providers/usage.ts';
import type { UsageRecord, Vault } from '../vault.ts';

const DAY_MS = 24 * 60 * 60_000;

export interface UsageMethodsDeps {
  vault: Pick<Vault, 'usage'>;
  clock: Clock;
  timeZone(): string;
}

interface Sums extends Pick<Usage, 'inputTokens' | 'outputTokens' | 'totalTokens' | 'cacheReadTokens' | 'cacheWriteTokens'> {
  calls: number;
  cost: number;
  estimatedCalls?: number;
}

export function usageMethods({ vault, clock, timeZone }: UsageMethodsDeps): Handlers<typeof usage> {
  /** The last days in the configured time zone, and the records of these days. */
  const last = async (days: number) => {
    const timeOf = localTime(timeZone());
    const dates = datesUpTo(timeOf(clock.now()).date, days);
    const [first = ''] = dates;
    // Daylight saving time changes the length of the period by hours only, so one more day is enough.
    const records = await vault.usage.since(clock.now() - (days + 1) * DAY_MS);
    const timed = records.map((record) => ({ record, ...timeOf(record.at) }));
    return { dates, calls: timed.filter(({ date }) => date >= first) };
  };

  return {
    'usage.get': async ({ days }) => {
      const records = (await last(days)).calls.map(({ record }) => record);
      const { cost, ...all } = sumsOf(records);
      return {
        windowDays: days,
        sessions: new Set(records.flatMap(({ sessionKey }) => sessionKey ?? [])).size,
        ...all,
        estimatedCost: cost,
        byProvider: sumsBy(records, ({ provider }) => provider),
        byModel: sumsBy(records, ({ model }) => model),
        byKey: sumsBy(
          records.filter(({ principal }) => principal.startsWith('key:')),
          ({ principal }) => principal.slice('key:'.length),
        ),
        byPurpose: sumsBy(records, ({ purpose = 'chat' }) => purpose),
      };
    },

    'usage.daily': async ({ days }) => {
      const { dates, calls } = await last(days);
      const byDate = Map.groupBy(calls, ({ date }) => date);
      return { dailyBreakdown: dates.map((date) => ({ date, ...sumsOf((byDate.get(date) ?? []).map(({ record }) => record)) })) };
    },

    'usage.hourly': async ({ days }) => {
      const hourlyDistribution = Array.from({ length: 24 }, () => 0);
      for (const { hour } of (await last(days)).calls) hourlyDistribution[hour] = (hourlyDistribution[hour] ?? 0) + 1;
      return { hourlyDistribution };
    },
  };
}

function sumsOf(records: readonly UsageRecord[]): Sums {
  const sums: Sums = { calls: records.length, inputTokens: 0, outputTokens: 0, totalTokens: 0, cost: 0 };
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

const sumsBy = (records: readonly UsageRecord[], key: (record: UsageRecord) => string): Record<string, Sums> =>
  Object.fromEntries([...Map.groupBy(records, key)].map(([name, group]) => [name, sumsOf(group)]));
