import { lazy } from '../core/lazy.ts';
import type { Vault } from '../core/vault.ts';
import type { FindDeps } from './search/find.ts';
import type { SearchIndexDeps } from './search/search-index.ts';
import type { SessionList } from './session-list.ts';
import type { Transactions } from './transaction.ts';

/** Number of waiting messages at which they are indexed without a search. */
const WAITING = 512;

export interface SearchStoreDeps {
  clock: { now(): number };
  transactions: Transactions;
  sessions: SessionList;
  onfault: (error: unknown) => void;
  sizes?: SearchIndexDeps['sizes'] | undefined;
}

export interface SearchStore {
  store: Vault['search'];
  /** Called with the number of messages that were stored or removed. */
  changed(messages: number): void;
  /** Brings the index up to date after a worker has started. */
  tend(): Promise<void>;
  /** Stops running work. */
  stop(): Promise<void>;
}

/** The search index; its code is loaded on first use. */
export function searchStore({ clock, transactions, sessions, onfault, sizes }: SearchStoreDeps): SearchStore {
  const parts = lazy(async () => {
    const [{ SearchIndex }, find] = await Promise.all([import('./search/search-index.ts'), import('./search/find.ts')]);
    const index = new SearchIndex({ transactions, ...(sizes ? { sizes } : {}) });
    if (stopped) index.stop();
    const deps: FindDeps = { index, transactions, sessions, now: () => clock.now() };
    return { index, find, deps };
  });
  const most = sizes ? sizes.memtable : WAITING;
  let waiting = 0;
  let working: Promise<void> | undefined;
  let stopped = false;
  const work = (): Promise<void> => {
    if (stopped) return Promise.resolve();
    waiting = 0;
    working ??= parts()
      .then(({ index }) => index.work())
      .catch((error: unknown) => void (stopped || onfault(error)))
      .finally(() => (working = undefined));
    return working;
  };

  return {
    store: {
      async sessions(text, options) {
        const { find, deps } = await parts();
        const page = await find.findSessions(deps, text, options);
        if (!page.complete) void work();
        return page;
      },
      async messages(text, options) {
        const { find, deps } = await parts();
        return find.findMessages(deps, text, options);
      },
    },
    changed(messages) {
      waiting += messages;
      if (waiting >= most) void work();
    },
    async tend() {
      const [state, pending] = await transactions.read(['local', 'searchPending'], (tx) =>
        Promise.all([tx.objectStore('local').get('search'), tx.objectStore('searchPending').getAll(null, most)]),
      );
      const ids = pending.reduce((sum, row) => sum + row.ids.length, 0);
      if (state?.name !== 'search' || state.filled !== null || ids >= most) await work();
    },
    async stop() {
      stopped = true;
      if (!working) return;
      (await parts()).index.stop();
      await working;
    },
  };
}
