import { untrack } from 'svelte';
import { SvelteMap, SvelteSet } from 'svelte/reactivity';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { SessionEntry } from '#shared/rpc/record-schemas.ts';
import { type Problem, toProblem } from '#lib/problems.ts';
import { gateway } from '#lib/gateway/gateway-connection.svelte.ts';
import { m } from '#lib/i18n/frame-messages.ts';
import { safeLocalStorage } from './safe-local-storage.ts';
import { pageVisibility } from './page-visibility.svelte.ts';

/** Chats that changed are read anew at most this often, milliseconds. */
const REFRESH_MS = 150;
/** Chats that are loaded at first, and more by as many. */
const PAGE_SIZE = 100;
const LISTED = { pinned: false, archived: false };

/** The list of chats: the pinned ones, the ones used last, and further down as far as somebody has looked. What is archived is in none of it. */
class SessionList {
  list = $state.raw<SessionEntry[]>([]);
  pinned = $state.raw<SessionEntry[]>([]);
  isLoaded = $state(false);
  problem = $state<Problem | null>(null);
  /** The chat on screen: it is read while it is looked at. */
  current = $state<string | null>(null);
  /** Chats on screen beside each other. */
  readonly #visiblePaths = new SvelteSet<string>();
  readonly #seenCounts = new SvelteMap<string, number>(parseSeenCounts(safeLocalStorage.read('seen')));
  #timer: ReturnType<typeof setTimeout> | undefined;
  #started = false;
  #cursor = $state<string | null>(null);
  #loadingMore = false;
  /** Chats on screen that are further down than the list. */
  #unlisted = $state.raw<SessionEntry[]>([]);

  readonly all = $derived([...this.pinned, ...this.list]);
  /** There are more than the list has. */
  readonly hasMore = $derived(this.#cursor !== null);

  start(): void {
    if (this.#started) return;
    this.#started = true;
    gateway.on('sessions.changed', ({ path, deleted }) => {
      if (deleted) this.#drop(path);
      this.#timer ??= setTimeout(() => void this.load(), REFRESH_MS);
    });
    gateway.on('chat.message', ({ agentId, sessionId }) => this.#patch(`${agentId}/${sessionId}.jsonl`, { running: true }));
    for (const end of ['chat.done', 'chat.error'] as const) {
      gateway.on(end, ({ agentId, sessionId }) => this.#patch(`${agentId}/${sessionId}.jsonl`, { running: false }));
    }
    safeLocalStorage.watch('seen', (value) => {
      for (const [path, count] of parseSeenCounts(value)) this.#seenCounts.set(path, count);
    });
  }

  async load(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    try {
      // As far as the list goes already; an effect that asks for it must not be run by what it gets.
      const limit = Math.min(
        10_000,
        Math.max(
          PAGE_SIZE,
          untrack(() => this.list.length),
        ),
      );
      const [{ sessions, cursor }, pinned] = await Promise.all([
        gateway.call('sessions.list', { ...LISTED, limit }),
        gateway.call('sessions.list', { pinned: true, archived: false }),
      ]);
      this.list = sessions;
      this.pinned = pinned.sessions;
      this.#cursor = cursor;
      this.problem = null;
      // Chats from before this browser's first visit count as read.
      const first = !this.isLoaded && !safeLocalStorage.read('seen');
      for (const entry of this.all) if (first || this.#isRead(entry)) this.#markSeen(entry);
      this.isLoaded = true;
      this.#storeSeen();
      await this.#findCurrent();
    } catch (error) {
      this.problem = toProblem(error, m.shell_doing_list_chats());
    }
  }

  async loadMore(): Promise<void> {
    if (this.#cursor === null || this.#loadingMore) return;
    this.#loadingMore = true;
    try {
      const { sessions, cursor } = await gateway.call('sessions.list', { ...LISTED, limit: PAGE_SIZE, cursor: this.#cursor });
      this.excludeFromList(sessions);
      const knownPaths = new Set(this.list.map(({ path }) => path));
      this.list = [...this.list, ...sessions.filter(({ path }) => !knownPaths.has(path))];
      this.#cursor = cursor;
    } catch (error) {
      this.problem = toProblem(error, m.shell_doing_list_chats());
    } finally {
      this.#loadingMore = false;
    }
  }

  /** Chats below the end of the list that were never opened here are not new. */
  excludeFromList(entries: readonly SessionEntry[]): void {
    const last = this.list.at(-1);
    if (!last || !this.hasMore) return;
    const knownPaths = new Set(this.list.map(({ path }) => path));
    const isNew = ({ path, updatedAt }: SessionEntry): boolean =>
      knownPaths.has(path) || this.#seenCounts.has(path) || updatedAt > last.updatedAt;
    const passed = entries.filter((entry) => !isNew(entry));
    for (const entry of passed) this.#markSeen(entry);
    if (passed.length > 0) this.#storeSeen();
  }

  /** The chat on screen may be further down than the list. */
  async #findCurrent(): Promise<void> {
    const path = this.current;
    if (path === null || this.all.some((entry) => entry.path === path)) return;
    try {
      this.#unlisted = (await gateway.call('sessions.list', { paths: [path] })).sessions;
    } catch (error) {
      // An address that can be no chat's.
      if (!(error instanceof RpcError && error.code === 'NOT_FOUND')) throw error;
    }
  }

  findEntry(agentId: string, sessionId: string): SessionEntry | undefined {
    const isIt = (entry: SessionEntry): boolean => entry.agentId === agentId && entry.sessionId === sessionId;
    return this.all.find(isIt) ?? this.#unlisted.find(isIt);
  }

  /** Looking at a chat reads it. */
  setCurrent(path: string | null): void {
    this.current = path;
    const entry = this.all.find((candidate) => candidate.path === path);
    if (entry && this.#isRead(entry) && this.#markSeen(entry)) this.#storeSeen();
    if (!entry && this.isLoaded)
      this.#findCurrent().catch((error: unknown) => (this.problem = toProblem(error, m.shell_doing_list_chats())));
  }

  /** A chat stands beside another one on screen, and is read; the result ends that. */
  markVisible(path: string): () => void {
    this.#visiblePaths.add(path);
    return () => void this.#visiblePaths.delete(path);
  }

  /** A chat that was brought in is nothing new. */
  addEntry(entry: SessionEntry): void {
    this.#markSeen(entry);
  }

  isUnread(entry: SessionEntry): boolean {
    return !this.#isRead(entry) && !entry.running && entry.messageCount > (this.#seenCounts.get(entry.path) ?? 0);
  }

  async rename(entry: SessionEntry, title: string): Promise<void> {
    const { session } = await gateway.call('sessions.rename', { path: entry.path, title });
    this.#patch(entry.path, session);
  }

  /** Rejects, as the ones below do, where the gateway refuses. */
  async pin({ path }: SessionEntry, pinned: boolean): Promise<void> {
    await gateway.call('sessions.pin', { path, pinned });
    await this.load();
  }

  async archive({ path }: SessionEntry, archived: boolean): Promise<void> {
    await gateway.call('sessions.archive', { path, archived });
    await this.load();
  }

  /** Puts it into a folder, or into none, and gives it these tags. */
  async organise({ path, folder, tags }: SessionEntry, to: Pick<SessionEntry, 'folder' | 'tags'>): Promise<void> {
    if (to.folder !== folder) this.#patch(path, (await gateway.call('sessions.move', { path, folder: to.folder })).session);
    if (to.tags.join('\n') !== tags.join('\n')) this.#patch(path, (await gateway.call('sessions.tag', { path, tags: to.tags })).session);
  }

  /** Whether memory is searched before replies in it. */
  async setRecall(path: string, recall: boolean): Promise<void> {
    await gateway.call('sessions.setRecall', { path, enabled: recall });
    this.#patch(path, { recall });
  }

  async remove(entry: SessionEntry): Promise<void> {
    try {
      await gateway.call('sessions.delete', { path: entry.path });
    } catch (error) {
      // Another tab was quicker: it is gone, which is what was wanted.
      if (!(error instanceof RpcError && error.code === 'NOT_FOUND')) throw error;
    }
    this.#drop(entry.path);
    this.#seenCounts.delete(entry.path);
    this.#storeSeen();
  }

  #patch(path: string, change: Partial<SessionEntry>): void {
    const patched = (entry: SessionEntry): SessionEntry => (entry.path === path ? { ...entry, ...change } : entry);
    this.list = this.list.map(patched);
    this.pinned = this.pinned.map(patched);
    this.#unlisted = this.#unlisted.map(patched);
  }

  #drop(path: string): void {
    const stays = (entry: SessionEntry): boolean => entry.path !== path;
    this.list = this.list.filter(stays);
    this.pinned = this.pinned.filter(stays);
    this.#unlisted = this.#unlisted.filter(stays);
  }

  #isRead({ path }: SessionEntry): boolean {
    return pageVisibility.isVisible && (path === this.current || this.#visiblePaths.has(path));
  }

  #markSeen({ path, messageCount }: SessionEntry): boolean {
    if (this.#seenCounts.get(path) === messageCount) return false;
    this.#seenCounts.set(path, messageCount);
    return true;
  }

  #storeSeen(): void {
    safeLocalStorage.write('seen', JSON.stringify(Object.fromEntries(this.#seenCounts)));
  }
}

function parseSeenCounts(value: string | null): [string, number][] {
  try {
    const counts: unknown = JSON.parse(value ?? '{}');
    return typeof counts === 'object' && counts !== null
      ? Object.entries(counts).filter((pair): pair is [string, number] => typeof pair[1] === 'number')
      : [];
  } catch {
    return [];
  }
}

export const sessions = new SessionList();
