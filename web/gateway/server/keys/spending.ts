import type { Clock } from '#shared/async/clock.ts';
import { createLocalTime } from '#shared/local-time.ts';
import type { UsageRecord, Vault } from '../../storage/vault-interface.ts';

const MINUTE_MS = 60_000;
/** Upper bound for a month, whatever the clocks do. */
const MAX_MONTH_MS = 32 * 24 * 60 * MINUTE_MS;
/** Overlap between two reads, for records that were stored or synced just after the previous one. */
const OVERLAP_MS = 2 * MINUTE_MS;
/** Interval at which the whole month is read again, for records that synced later. */
const FULL_READ_MS = 30 * MINUTE_MS;

export interface MonthUsage {
  calls: number;
  totalTokens: number;
  cost: number;
}

/** Usage of a principal. */
interface PrincipalUsage {
  month: MonthUsage;
  /** Calls that ended within the last minute, oldest first. */
  minute: { at: number; tokens: number }[];
}

interface SpendingDeps {
  usage: Pick<Vault['usage'], 'since'>;
  clock: Clock;
  timeZone(): string;
}

const NO_USAGE: PrincipalUsage = { month: { calls: 0, totalTokens: 0, cost: 0 }, minute: [] };

/**
 * Usage of each principal in the current month and minute, from the stored usage records. After the first read of the month only the last
 * minutes are read.
 */
export class Spending {
  readonly #deps: SpendingDeps;
  #months = new Map<string, MonthUsage>();
  #month = '';
  #fullReadAt = -Infinity;
  /** Time of the last read. */
  #readAt = 0;
  /** Ids of counted records of the last minutes. */
  #countedIds = new Set<string>();
  #queue: Promise<unknown> = Promise.resolve();

  constructor(deps: SpendingDeps) {
    this.#deps = deps;
  }

  async getUsage(principal: string): Promise<PrincipalUsage> {
    const recent = await this.#refresh();
    return { month: this.#months.get(principal) ?? NO_USAGE.month, minute: recent.get(principal) ?? [] };
  }

  #refresh(): Promise<Map<string, PrincipalUsage['minute']>> {
    const refreshed = this.#queue.then(() => this.#read());
    this.#queue = refreshed.catch(() => {});
    return refreshed;
  }

  async #read(): Promise<Map<string, PrincipalUsage['minute']>> {
    const { usage, clock, timeZone } = this.#deps;
    const now = clock.now();
    const toMonth = (at: number): string => toLocalTime(at).date.slice(0, 7);
    const toLocalTime = createLocalTime(timeZone());
    const month = toMonth(now);
    const isFullRead = month !== this.#month || clock.monotonic() - this.#fullReadAt > FULL_READ_MS;
    const records = await usage.since(isFullRead ? now - MAX_MONTH_MS : Math.min(now, this.#readAt) - OVERLAP_MS);
    if (isFullRead) {
      this.#months = new Map();
      this.#countedIds = new Set();
      this.#month = month;
      this.#fullReadAt = clock.monotonic();
    }
    for (const record of records) if (!this.#countedIds.has(record.id) && toMonth(record.at) === month) this.#count(record);
    const recent = records.filter(({ at }) => at > now - OVERLAP_MS);
    this.#readAt = now;
    this.#countedIds = new Set(recent.map(({ id }) => id));
    const minute = Map.groupBy(
      recent.filter(({ at }) => at > now - MINUTE_MS),
      ({ principal }) => principal,
    );
    return new Map([...minute].map(([principal, calls]) => [principal, calls.map(({ at, usage }) => ({ at, tokens: usage.totalTokens }))]));
  }

  #count({ principal, usage }: UsageRecord): void {
    const { calls, totalTokens, cost } = this.#months.get(principal) ?? NO_USAGE.month;
    this.#months.set(principal, {
      calls: calls + 1,
      totalTokens: totalTokens + usage.totalTokens,
      cost: cost + (usage.cost ?? 0),
    });
  }
}
