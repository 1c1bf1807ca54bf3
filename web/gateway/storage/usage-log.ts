import type { Clock } from '#shared/async/clock.ts';
import { GroupCommit } from '#shared/async/group-commit.ts';
import type { UsageRecord, Vault } from './vault-interface.ts';
import { OwnershipLostError } from './vault-errors.ts';
import type { Transactions, VaultWrite } from './transactions.ts';

/** Maximum time in milliseconds that a record waits to be committed with others. */
const COMMIT_DELAY_MS = 50;
/** Maximum number of records kept in memory while the database fails (such as for lack of space); beyond it the oldest are dropped. */
const MAX_PENDING_RECORDS = 10_000;

/** Stores one row for records that are committed together; at least one. */
export async function storeUsage(put: VaultWrite['put'], records: UsageRecord[]): Promise<void> {
  const [first] = records;
  if (first) await put('usage', first.id, { id: first.id, until: Math.max(...records.map(({ at }) => at)), records });
}

interface UsageDeps {
  clock: Clock;
  transactions: Transactions;
  /** Called if a group could not be stored; it is retried with the next one, unless another owner has taken over. */
  onfault: (error: unknown) => void;
}

/** Usage of calls, committed in groups: one transaction for all that arrive within 50 ms. */
export class UsageLog {
  readonly #deps: UsageDeps;
  #pending: UsageRecord[] = [];
  readonly #groupCommit: GroupCommit;

  constructor(deps: UsageDeps) {
    this.#deps = deps;
    this.#groupCommit = new GroupCommit(deps.clock, COMMIT_DELAY_MS, () => this.#commit());
  }

  readonly store: Vault['usage'] = {
    add: (record) => {
      this.#pending.push(record);
      this.#groupCommit.schedule();
    },

    addStrict: (records) => this.#deps.transactions.write(['usage'], ({ put }) => storeUsage(put, records), 'relaxed'),

    /** Oldest first, each once, including records that wait for their group. */
    since: async (at) => {
      await this.flush();
      const groups = await this.#deps.transactions.read(['usage'], (tx) =>
        tx.objectStore('usage').index('until').getAll(IDBKeyRange.lowerBound(at)),
      );
      // A record that was reported twice is in two groups.
      const records = new Map(groups.flatMap(({ records }) => records).map((record) => [record.id, record]));
      return [...records.values()].filter((record) => record.at >= at).sort((a, b) => a.at - b.at);
    },
  };

  /** Stores waiting records. Never rejects: errors are passed to `onfault`. */
  flush(): Promise<void> {
    return this.#groupCommit.flush();
  }

  async #commit(): Promise<void> {
    const group = this.#pending.splice(0);
    if (group.length === 0) return;
    try {
      await this.#deps.transactions.write(['usage'], ({ put }) => storeUsage(put, group), 'relaxed');
    } catch (error) {
      if (!(error instanceof OwnershipLostError)) this.#pending = [...group, ...this.#pending].slice(-MAX_PENDING_RECORDS);
      this.#deps.onfault(error);
    }
  }
}
