import type { Clock } from '../clock.ts';
import { localTime } from '../local-time.ts';
import type { UsageRecord, Vault } from '../vault.ts';

const MINUTE = 60_000;
/** Upper bound for a month, whatever the clocks do. */
const LONGEST_MONTH = 32 * 24 * 60 * MINUTE;
/** Overlap between two reads, for records that were stored or synced just after the previous one. */
const OVERLAP = 2 * MINUTE;
/** Interval at which the whole month is read again, for records that synced later. */
const WHOLE_AGAIN = 30 * MINUTE;

export interface Month {
  calls: number;
  totalTokens: number;
  cost: number;
}

/** Usage of a principal. */
export interface Spent {
  month: Month;
  /** Calls that ended within the last minute, oldest first. */
  minute: { at: number; tokens: number }[];
}

export interface SpendingDeps {
  usage: Pick<Vault['usage'], 'since'>;
  clock: Clock;
  timeZone(): string;
}

const NOTHING: Spent = { month: { calls: 0, totalTokens: 0, cost: 0 }, minute: [] };

/**
 * Usage of each principal in the current month and minute, from the stored usage records. After the first read of the month only the last
 * minutes are read.
 */
export class Spending {
  readonly #deps: SpendingDeps;
  #months = new Map<string, Month>();
  #month = '';
  #wholeAt = -Infinity;
  /** Time of the last read. */
  #readAt = 0;
  /** Ids of counted records of the last minutes. */
  #counted = new Set<string>();
  #line: Promise<unknown> = Promise.resolve();

  constructor(deps: SpendingDeps) {
    this.#deps = deps;
  }

  async of(principal: string): Promise<Spent> {
    const recent = await this.#refresh();
    return { month: this.#months.get(principal) ?? NOTHING.month, minute: recent.get(principal) ?? [] };
  }

  #refresh(): Promise<Map<string, Spent['minute']>> {
    const refreshed = this.#line.then(() => this.#read());
    this.#line = refreshed.catch(() => {});
    return refreshed;
  }

  async #read(): Promise<Map<string, Spent['minute']>> {
    const { usage, clock, timeZone } = this.#deps;
    const now = clock.now();
    const monthOf = (at: number): string => timeOf(at).date.slice(0, 7);
    const timeOf = localTime(timeZone());
    const month = monthOf(now);
    const whole = month !== this.#month || clock.monotonic() - this.#wholeAt > WHOLE_AGAIN;
    const records = await usage.since(whole ? now - LONGEST_MONTH : Math.min(now, this.#readAt) - OVERLAP);
    if (whole) {
      this.#months = new Map();
      this.#counted = new Set();
      this.#month = month;
      this.#wholeAt = clock.monotonic();
    }
    for (const record of records) if (!this.#counted.has(record.id) && monthOf(record.at) === month) this.#count(record);
    const recent = records.filter(({ at }) => at > now - OVERLAP);
    this.#readAt = now;
    this.#counted = new Set(recent.map(({ id }) => id));
    const minute = Map.groupBy(
      recent.filter(({ at }) => at > now - MINUTE),
      ({ principal }) => principal,
    );
    return new Map([...minute].map(([principal, calls]) => [principal, calls.map(({ at, usage }) => ({ at, tokens: usage.totalTokens }))]));
  }

  #count({ principal, usage }: UsageRecord): void {
    const { calls, totalTokens, cost } = this.#months.get(principal) ?? NOTHING.month;
    this.#months.set(principal, {
      calls: calls + 1,
      totalTokens: totalTokens + usage.totalTokens,
      cost: cost + (usage.cost ?? 0),
    });
  }
}
