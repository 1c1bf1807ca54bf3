import { lazy } from '#shared/async/lazy.ts';
import type { Vault } from './vault-interface.ts';
import type { SearchDeps } from './search/find-messages.ts';
import type { SearchIndexDeps } from './search/search-index.ts';
import type { SessionList } from './session-list.ts';
import type { Transactions } from './transactions.ts';

/** Number of waiting messages at which they are indexed without a search. */
const INDEX_THRESHOLD = 512;

export interface SearchStoreDeps {
  clock: { now(): number };
  transactions: Transactions;
  sessions: SessionList;
  onfault: (error: unknown) => void;
  sizes?: SearchIndexDeps['sizes'] | undefined;
}

interface SearchStore {
  store: Vault['search'];
  /** Called with the number of messages that were stored or removed. */
  onMessagesChanged(messages: number): void;
  /** Brings the index up to date after a worker has started. */
  maintain(): Promise<void>;
  /** Stops running work. */
  stop(): Promise<void>;
}

/** The search index; its code is loaded on first use. */
export function createSearchStore({ clock, transactions, sessions, onfault, sizes }: SearchStoreDeps): SearchStore {
  const loadSearch = lazy(async () => {
    const [{ SearchIndex }, find] = await Promise.all([import('./search/search-index.ts'), import('./search/find-messages.ts')]);
    const index = new SearchIndex({ transactions, ...(sizes ? { sizes } : {}) });
    if (isStopped) index.stop();
    const deps: SearchDeps = { index, transactions, sessions, now: () => clock.now() };
    return { index, find, deps };
  });
  const threshold = sizes ? sizes.memtable : INDEX_THRESHOLD;
  let waitingCount = 0;
  let activeWork: Promise<void> | undefined;
  let isStopped = false;
  const indexAll = (): Promise<void> => {
    if (isStopped) return Promise.resolve();
    waitingCount = 0;
    activeWork ??= loadSearch()
      .then(({ index }) => index.indexAll())
      .catch((error: unknown) => void (isStopped || onfault(error)))
      .finally(() => (activeWork = undefined));
    return activeWork;
  };

  return {
    store: {
      async sessions(text, options) {
        const { find, deps } = await loadSearch();
        const page = await find.findSessions(deps, text, options);
        if (!page.complete) void indexAll();
        return page;
      },
      async messages(text, options) {
        const { find, deps } = await loadSearch();
        return find.findMessages(deps, text, options);
      },
      async rebuild() {
        await activeWork;
        const { index } = await loadSearch();
        await index.rebuild();
        await indexAll();
      },
    },
    onMessagesChanged(messages) {
      waitingCount += messages;
      if (waitingCount >= threshold) void indexAll();
    },
    async maintain() {
      const [state, pending] = await transactions.read(['local', 'searchPending'], (tx) =>
        Promise.all([tx.objectStore('local').get('search'), tx.objectStore('searchPending').getAll(null, threshold)]),
      );
      const ids = pending.reduce((sum, row) => sum + row.ids.length, 0);
      if (state?.name !== 'search' || state.filled !== null || ids >= threshold) await indexAll();
    },
    async stop() {
      isStopped = true;
      if (!activeWork) return;
      (await loadSearch()).index.stop();
      await activeWork;
    },
  };
}
