import type { Vault } from '../core/vault.ts';
import type { Transactions } from './transaction.ts';

/** Minimum number of lines that are kept. */
const KEPT = 10_000;
/** Number of lines after which the ring is trimmed, so that one request deletes all old ones. */
const CUT_EVERY = 500;

/** The log of this replica: numbered lines, a ring. It is not in the change log. */
export const logRing = ({ transactions }: { transactions: Transactions }): Vault['logs'] => ({
  append: (lines) =>
    transactions.local(['logs'], async (tx) => {
      const store = tx.objectStore('logs');
      await Promise.all(lines.map((line) => store.put(line)));
      const [first, last] = [lines.at(0)?.seq ?? 0, lines.at(-1)?.seq ?? 0];
      if (Math.floor(last / CUT_EVERY) > Math.floor((first - 1) / CUT_EVERY)) await store.delete(IDBKeyRange.upperBound(last - KEPT));
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
