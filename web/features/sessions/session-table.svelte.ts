import type { SessionEntry } from '#shared/rpc/record-schemas.ts';
import { type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';

const PAGE_SIZE = 100;
/** Maximum number of sessions that `sessions.list` returns at once. */
const MAX_SESSIONS = 10_000;
/** Delay of a reload after input or a change of chats, in milliseconds. */
const DEBOUNCE_MS = 200;

export const STATE_FILTERS = {
  listed: { label: () => m.sessions_show_listed(), filter: { archived: false } },
  pinned: { label: () => m.sessions_show_pinned(), filter: { pinned: true, archived: false } },
  archived: { label: () => m.sessions_show_archived(), filter: { archived: true } },
  all: { label: () => m.sessions_show_all(), filter: {} },
} as const;
type StateFilter = keyof typeof STATE_FILTERS;

/** The table of chats: filters, loaded rows, and selection. */
class SessionTable {
  searchText = $state('');
  stateFilter = $state<StateFilter>('listed');
  folder = $state('');
  tag = $state('');
  list = $state.raw<SessionEntry[] | null>(null);
  /** Null: too many to count. */
  total = $state<number | null>(null);
  /** All folders and tags. */
  folders = $state.raw<string[]>([]);
  tags = $state.raw<string[]>([]);
  problem = $state<Problem | null>(null);
  /** Paths of selected chats. */
  selectedPaths = $state.raw<ReadonlySet<string>>(new Set());
  #cursor = $state<string | null>(null);
  /** Path of the chat that was selected or deselected last. */
  #lastSelected = '';
  #request: AbortController | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  readonly hasMore = $derived(this.#cursor !== null);
  readonly selectedEntries = $derived((this.list ?? []).filter(({ path }) => this.selectedPaths.has(path)));

  /** Loads the table, and again when chats change. Returns a function that stops it. */
  watch(): () => void {
    void this.load();
    const unsubscribe = gateway.on('sessions.changed', () => this.scheduleLoad());
    return () => {
      unsubscribe();
      clearTimeout(this.#timer);
      this.#request?.abort();
    };
  }

  scheduleLoad(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.load(), DEBOUNCE_MS);
  }

  async load(): Promise<void> {
    clearTimeout(this.#timer);
    await Promise.all([this.#loadLabels(), this.#requestPage(null, Math.max(PAGE_SIZE, this.list?.length ?? 0))]);
  }

  async loadMore(): Promise<void> {
    if (this.#cursor !== null && !this.#request) await this.#requestPage(this.#cursor, PAGE_SIZE);
  }

  /** Selects or deselects a chat. `through`: with all chats between it and the last one. */
  select(path: string, on: boolean, through = false): void {
    const paths = through ? (this.list ?? []).map((entry) => entry.path) : [];
    const [index, lastIndex] = [paths.indexOf(path), paths.indexOf(this.#lastSelected)];
    const range = lastIndex === -1 ? [path] : paths.slice(Math.min(index, lastIndex), Math.max(index, lastIndex) + 1);
    this.#lastSelected = path;
    const selectedPaths = new Set(this.selectedPaths);
    for (const each of range) {
      if (on) selectedPaths.add(each);
      else selectedPaths.delete(each);
    }
    this.selectedPaths = selectedPaths;
  }

  /** Selects or deselects all matching chats, also those not loaded yet. */
  async selectAll(on: boolean): Promise<void> {
    const selectLoaded = (): unknown => (this.selectedPaths = new Set(on ? (this.list ?? []).map(({ path }) => path) : []));
    selectLoaded();
    while (on && this.#cursor !== null && this.problem === null) {
      const { searchText, stateFilter, folder, tag } = this;
      await this.#requestPage(this.#cursor, MAX_SESSIONS);
      if (searchText !== this.searchText || stateFilter !== this.stateFilter || folder !== this.folder || tag !== this.tag) return;
      selectLoaded();
    }
  }

  async #loadLabels(): Promise<void> {
    try {
      const { sessions } = await gateway.call('sessions.list', {});
      const sorted = (values: string[]): string[] => [...new Set(values)].sort((a, b) => a.localeCompare(b));
      this.folders = sorted(sessions.flatMap(({ folder }) => folder ?? []));
      this.tags = sorted(sessions.flatMap(({ tags }) => tags));
    } catch {
      // Loading the list reports the problem.
    }
  }

  async #requestPage(cursor: string | null, limit: number): Promise<void> {
    this.#request?.abort();
    const request = (this.#request = new AbortController());
    const { signal } = request;
    const filter = {
      ...STATE_FILTERS[this.stateFilter].filter,
      ...(this.folder && { folder: this.folder }),
      ...(this.tag && { tag: this.tag }),
      ...(cursor !== null && { cursor }),
    };
    try {
      const text = this.searchText.trim();
      const page =
        text === ''
          ? await gateway.call('sessions.list', { ...filter, limit: Math.min(MAX_SESSIONS, limit) }, { signal })
          : await gateway
              .call('sessions.search', { ...filter, query: this.searchText, limit: PAGE_SIZE }, { signal })
              .then(({ results, ...rest }) => ({ ...rest, sessions: results.map(({ session }) => session) }));
      if (signal.aborted) return;
      const before = cursor === null ? [] : (this.list ?? []);
      const knownPaths = new Set(before.map(({ path }) => path));
      this.list = [...before, ...page.sessions.filter(({ path }) => !knownPaths.has(path))];
      this.total = page.total;
      this.#cursor = page.cursor;
      this.problem = null;
      const listedPaths = new Set(this.list.map(({ path }) => path));
      this.selectedPaths = new Set([...this.selectedPaths].filter((path) => listedPaths.has(path)));
    } catch (error) {
      if (!signal.aborted) this.problem = toProblem(error, m.sessions_doing_list());
    } finally {
      if (this.#request === request) this.#request = undefined;
    }
  }
}

export const sessionTable = new SessionTable();
