import type { Vault } from './vault-interface.ts';
import type { Transactions } from './transactions.ts';

/** Minimum number of lines that are kept. */
const MIN_LINES = 10_000;
/** Number of lines after which the ring is trimmed, so that one request deletes all old ones. */
const TRIM_INTERVAL_LINES = 500;

/** The log of this replica: numbered lines, a ring. It is not in the change log. */
export const createLogRing = ({ transactions }: { transactions: Transactions }): Vault['logs'] => ({
  append: (lines) =>
    transactions.writeLocal(['logs'], async (tx) => {
      const store = tx.objectStore('logs');
      await Promise.all(lines.map((line) => store.put(line)));
      const [first, last] = [lines.at(0)?.seq ?? 0, lines.at(-1)?.seq ?? 0];
      if (Math.floor(last / TRIM_INTERVAL_LINES) > Math.floor((first - 1) / TRIM_INTERVAL_LINES))
        await store.delete(IDBKeyRange.upperBound(last - MIN_LINES));
    }),

  range: async (from, to, limit) =>
    from >= to ? [] : transactions.read(['logs'], (tx) => tx.objectStore('logs').getAll(IDBKeyRange.bound(from, to, false, true), limit)),

  span: () =>
    transactions.read(['logs'], async (tx) => {
      const store = tx.objectStore('logs');
      const [first, last] = await Promise.all([store.openKeyCursor(), store.openKeyCursor(null, 'prev')]);
      return first && last ? { first: first.key, last: last.key } : null;
    }),
});
