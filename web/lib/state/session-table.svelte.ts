import type { SessionEntry } from '#shared/rpc/record-schemas.ts';
import { type Problem, toProblem } from '#lib/problems.ts';
import { gateway } from '#lib/gateway/gateway-connection.svelte.ts';
import { m } from '#lib/i18n/page-messages.ts';

const PAGE_SIZE = 100;
/** Maximum number of sessions that `sessions.list` returns at once. */
const MAX_SESSIONS = 10_000;
/** Somebody who types is not asked about each letter; chats that change are not read anew at each word of a reply. Milliseconds. */
const DEBOUNCE_MS = 200;

export const STATE_FILTERS = {
  listed: { label: () => m.sessions_show_listed(), filter: { archived: false } },
  pinned: { label: () => m.sessions_show_pinned(), filter: { pinned: true, archived: false } },
  archived: { label: () => m.sessions_show_archived(), filter: { archived: true } },
  all: { label: () => m.sessions_show_all(), filter: {} },
} as const;
export type StateFilter = keyof typeof STATE_FILTERS;

/** All chats in a table: those that fit, as far as somebody has looked, and which of them are chosen. */
class SessionTable {
  searchText = $state('');
  stateFilter = $state<StateFilter>('listed');
  folder = $state('');
  tag = $state('');
  list = $state.raw<SessionEntry[] | null>(null);
  /** Null: too many to count. */
  total = $state<number | null>(null);
  /** Folders and tags that there are. */
  folders = $state.raw<string[]>([]);
  tags = $state.raw<string[]>([]);
  problem = $state<Problem | null>(null);
  /** Paths. */
  selectedPaths = $state.raw<ReadonlySet<string>>(new Set());
  #cursor = $state<string | null>(null);
  /** Chosen last, or left out. */
  #lastSelected = '';
  #request: AbortController | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  readonly hasMore = $derived(this.#cursor !== null);
  readonly selectedEntries = $derived((this.list ?? []).filter(({ path }) => this.selectedPaths.has(path)));

  /** Reads it, and again whenever chats change, until the returned function is called. */
  watch(): () => void {
    void this.load();
    const off = gateway.on('sessions.changed', () => this.scheduleLoad());
    return () => {
      off();
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

  /** `through`: and all those between it and the one that was chosen last. */
  select(path: string, on: boolean, through = false): void {
    const paths = through ? (this.list ?? []).map((entry) => entry.path) : [];
    const [here, last] = [paths.indexOf(path), paths.indexOf(this.#lastSelected)];
    const among = last === -1 ? [path] : paths.slice(Math.min(here, last), Math.max(here, last) + 1);
    this.#lastSelected = path;
    const selectedPaths = new Set(this.selectedPaths);
    for (const each of among) {
      if (on) selectedPaths.add(each);
      else selectedPaths.delete(each);
    }
    this.selectedPaths = selectedPaths;
  }

  /** All that fit, those that nobody has looked at yet included. */
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
      // The list itself tells of it.
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
      const there = new Set(this.list.map(({ path }) => path));
      this.selectedPaths = new Set([...this.selectedPaths].filter((path) => there.has(path)));
    } catch (error) {
      if (!signal.aborted) this.problem = toProblem(error, m.sessions_doing_list());
    } finally {
      if (this.#request === request) this.#request = undefined;
    }
  }
}

export const sessionTable = new SessionTable();
