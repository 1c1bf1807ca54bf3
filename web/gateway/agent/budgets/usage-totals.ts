import type { Clock } from '#shared/async/clock.ts';
import { createLocalTime } from '#shared/local-time.ts';
import type { BudgetPeriod } from '#shared/rpc/budget-period.ts';
import type { UsageRecord, Vault } from '../../storage/vault-interface.ts';
import { getUsageScopes } from './budget-scopes.ts';

const MINUTE_MS = 60_000;
/** Upper bound for a month, whatever the clocks do. */
const MAX_MONTH_MS = 32 * 24 * 60 * MINUTE_MS;
/** Overlap between two reads, for records that were stored or synced just after the previous one. */
const OVERLAP_MS = 2 * MINUTE_MS;
/** Interval at which the whole month is read again, for records that synced later. */
const FULL_READ_MS = 30 * MINUTE_MS;
/** Minimum interval between two such reads while other hosts keep adding records. */
const MIN_FULL_READ_MS = MINUTE_MS;

/** Calls of a period. `unpricedCalls`: those of models without a known price. */
export interface UsageSum {
  calls: number;
  totalTokens: number;
  cost: number;
  unpricedCalls: number;
}

/** Usage of a scope in the current day and month. */
export type ScopeUsage = Readonly<Record<BudgetPeriod, UsageSum>> & {
  /** Calls that ended within the last minute, oldest first. */
  minute: readonly { at: number; tokens: number }[];
};

interface UsageTotalsDeps {
  usage: Pick<Vault['usage'], 'since'>;
  clock: Clock;
  timeZone(): string;
}

const NO_CALLS: UsageSum = { calls: 0, totalTokens: 0, cost: 0, unpricedCalls: 0 };

/**
 * Usage of each scope in the current day, month and minute, from the stored usage records. After the first read of the month only the last
 * minutes are read.
 */
export class UsageTotals {
  readonly #deps: UsageTotalsDeps;
  readonly #sums: Record<BudgetPeriod, Map<string, UsageSum>> = { day: new Map(), month: new Map() };
  /** Date and time zone of the sums. */
  #date = '';
  #timeZone = '';
  #toLocalTime = createLocalTime('UTC');
  #fullReadAt = -Infinity;
  #isStale = false;
  /** Time of the last read. */
  #readAt = 0;
  /** Ids of counted records of the last minutes. */
  #countedIds = new Set<string>();
  #queue: Promise<unknown> = Promise.resolve();

  constructor(deps: UsageTotalsDeps) {
    this.#deps = deps;
  }

  /** Reads new records. Resolves with the usage by scope. */
  read(): Promise<(scope: string) => ScopeUsage> {
    const read = this.#queue.then(() => this.#read());
    this.#queue = read.catch(() => {});
    return read;
  }

  /** Called when other hosts have added records: they may be older than those that are read again. */
  markStale(): void {
    this.#isStale = true;
  }

  async #read(): Promise<(scope: string) => ScopeUsage> {
    const { usage, clock, timeZone } = this.#deps;
    const now = clock.now();
    const isOtherZone = timeZone() !== this.#timeZone;
    if (isOtherZone) {
      this.#timeZone = timeZone();
      this.#toLocalTime = createLocalTime(this.#timeZone);
    }
    const { date } = this.#toLocalTime(now);
    const sinceFullRead = clock.monotonic() - this.#fullReadAt;
    const isFullRead =
      isOtherZone || date !== this.#date || sinceFullRead > FULL_READ_MS || (this.#isStale && sinceFullRead >= MIN_FULL_READ_MS);
    const records = await usage.since(isFullRead ? now - MAX_MONTH_MS : Math.min(now, this.#readAt) - OVERLAP_MS);
    if (isFullRead) {
      for (const sums of Object.values(this.#sums)) sums.clear();
      this.#countedIds = new Set();
      this.#date = date;
      this.#fullReadAt = clock.monotonic();
      this.#isStale = false;
    }
    for (const record of records) if (!this.#countedIds.has(record.id)) this.#count(record);
    const recent = records.filter(({ at }) => at > now - OVERLAP_MS);
    this.#readAt = now;
    this.#countedIds = new Set(recent.map(({ id }) => id));
    const lastMinute = recent.filter(({ at }) => at > now - MINUTE_MS);
    return (scope) => ({
      day: this.#sums.day.get(scope) ?? NO_CALLS,
      month: this.#sums.month.get(scope) ?? NO_CALLS,
      minute: lastMinute
        .filter((record) => getUsageScopes(record).includes(scope))
        .map(({ at, usage }) => ({ at, tokens: usage.totalTokens })),
    });
  }

  #count(record: UsageRecord): void {
    const { date } = this.#toLocalTime(record.at);
    if (date.slice(0, 7) !== this.#date.slice(0, 7)) return;
    const periods: BudgetPeriod[] = date === this.#date ? ['day', 'month'] : ['month'];
    for (const scope of getUsageScopes(record))
      for (const period of periods) this.#sums[period].set(scope, addRecord(this.#sums[period].get(scope) ?? NO_CALLS, record));
  }
}

const addRecord = ({ calls, totalTokens, cost, unpricedCalls }: UsageSum, { usage }: UsageRecord): UsageSum => ({
  calls: calls + 1,
  totalTokens: totalTokens + usage.totalTokens,
  cost: cost + (usage.cost ?? 0),
  unpricedCalls: unpricedCalls + (usage.cost === undefined ? 1 : 0),
});
