import type { SessionEntry } from '#shared/rpc/records.ts';
import { type Problem, problemOf } from '#lib/errors.ts';
import { gateway } from '#lib/gateway/connection.svelte.ts';
import { m } from '#lib/i18n/pages.ts';

const PAGE = 100;
/** Maximum number of sessions that `sessions.list` returns at once. */
const MOST = 10_000;
/** Somebody who types is not asked about each letter; chats that change are not read anew at each word of a reply. Milliseconds. */
const PAUSE_MS = 200;

export const SHOWN = {
  listed: { label: () => m.sessions_show_listed(), filter: { archived: false } },
  pinned: { label: () => m.sessions_show_pinned(), filter: { pinned: true, archived: false } },
  archived: { label: () => m.sessions_show_archived(), filter: { archived: true } },
  all: { label: () => m.sessions_show_all(), filter: {} },
} as const;
export type Shown = keyof typeof SHOWN;

/** All chats in a table: those that fit, as far as somebody has looked, and which of them are chosen. */
class SessionTable {
  words = $state('');
  shown = $state<Shown>('listed');
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
  chosen = $state.raw<ReadonlySet<string>>(new Set());
  #cursor = $state<string | null>(null);
  /** Chosen last, or left out. */
  #last = '';
  #asking: AbortController | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  readonly more = $derived(this.#cursor !== null);
  readonly chosenOnes = $derived((this.list ?? []).filter(({ path }) => this.chosen.has(path)));

  /** Reads it, and again whenever chats change, until the returned function is called. */
  show(): () => void {
    void this.load();
    const off = gateway.on('sessions.changed', () => this.soon());
    return () => {
      off();
      clearTimeout(this.#timer);
      this.#asking?.abort();
    };
  }

  soon(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.load(), PAUSE_MS);
  }

  async load(): Promise<void> {
    clearTimeout(this.#timer);
    await Promise.all([this.#labels(), this.#ask(null, Math.max(PAGE, this.list?.length ?? 0))]);
  }

  async loadMore(): Promise<void> {
    if (this.#cursor !== null && !this.#asking) await this.#ask(this.#cursor, PAGE);
  }

  /** `through`: and all those between it and the one that was chosen last. */
  choose(path: string, on: boolean, through = false): void {
    const paths = through ? (this.list ?? []).map((entry) => entry.path) : [];
    const [here, last] = [paths.indexOf(path), paths.indexOf(this.#last)];
    const among = last === -1 ? [path] : paths.slice(Math.min(here, last), Math.max(here, last) + 1);
    this.#last = path;
    const chosen = new Set(this.chosen);
    for (const each of among) {
      if (on) chosen.add(each);
      else chosen.delete(each);
    }
    this.chosen = chosen;
  }

  /** All that fit, those that nobody has looked at yet included. */
  async chooseAll(on: boolean): Promise<void> {
    const take = (): unknown => (this.chosen = new Set(on ? (this.list ?? []).map(({ path }) => path) : []));
    take();
    while (on && this.#cursor !== null && this.problem === null) {
      const { words, shown, folder, tag } = this;
      await this.#ask(this.#cursor, MOST);
      if (words !== this.words || shown !== this.shown || folder !== this.folder || tag !== this.tag) return;
      take();
    }
  }

  async #labels(): Promise<void> {
    try {
      const { sessions } = await gateway.call('sessions.list', {});
      const sorted = (values: string[]): string[] => [...new Set(values)].sort((a, b) => a.localeCompare(b));
      this.folders = sorted(sessions.flatMap(({ folder }) => folder ?? []));
      this.tags = sorted(sessions.flatMap(({ tags }) => tags));
    } catch {
      // The list itself tells of it.
    }
  }

  async #ask(cursor: string | null, limit: number): Promise<void> {
    this.#asking?.abort();
    const asking = (this.#asking = new AbortController());
    const { signal } = asking;
    const filter = {
      ...SHOWN[this.shown].filter,
      ...(this.folder && { folder: this.folder }),
      ...(this.tag && { tag: this.tag }),
      ...(cursor !== null && { cursor }),
    };
    try {
      const words = this.words.trim();
      const found =
        words === ''
          ? await gateway.call('sessions.list', { ...filter, limit: Math.min(MOST, limit) }, { signal })
          : await gateway
              .call('sessions.search', { ...filter, query: this.words, limit: PAGE }, { signal })
              .then(({ results, ...rest }) => ({ ...rest, sessions: results.map(({ session }) => session) }));
      if (signal.aborted) return;
      const before = cursor === null ? [] : (this.list ?? []);
      const known = new Set(before.map(({ path }) => path));
      this.list = [...before, ...found.sessions.filter(({ path }) => !known.has(path))];
      this.total = found.total;
      this.#cursor = found.cursor;
      this.problem = null;
      const there = new Set(this.list.map(({ path }) => path));
      this.chosen = new Set([...this.chosen].filter((path) => there.has(path)));
    } catch (error) {
      if (!signal.aborted) this.problem = problemOf(error, m.sessions_doing_list());
    } finally {
      if (this.#asking === asking) this.#asking = undefined;
    }
  }
}

export const sessionTable = new SessionTable();
