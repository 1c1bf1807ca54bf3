import { untrack } from 'svelte';
import { SvelteMap, SvelteSet } from 'svelte/reactivity';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { ModelParameters } from '#shared/rpc/model-parameters.ts';
import type { SessionEntry } from '#shared/rpc/record-schemas.ts';
import { type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '../connection/gateway-connection.svelte.ts';
import { m } from '../i18n/messages.ts';
import { safeLocalStorage } from './safe-local-storage.ts';
import { pageVisibility } from '../connection/page-visibility.svelte.ts';

/** Delay of a reload after a change, in milliseconds. */
const REFRESH_MS = 150;
/** Chats per page. */
const PAGE_SIZE = 100;
const LISTED = { pinned: false, archived: false };

/** The list of chats without archived ones: pinned chats, and recent ones as far as they are loaded. */
class SessionList {
  list = $state.raw<SessionEntry[]>([]);
  pinned = $state.raw<SessionEntry[]>([]);
  isLoaded = $state(false);
  problem = $state<Problem | null>(null);
  /** Path of the chat on screen, which counts as read. */
  current = $state<string | null>(null);
  /** Paths of further chats on screen, side by side. */
  readonly #visiblePaths = new SvelteSet<string>();
  readonly #seenCounts = new SvelteMap<string, number>(parseSeenCounts(safeLocalStorage.read('seen')));
  #timer: ReturnType<typeof setTimeout> | undefined;
  #started = false;
  #cursor = $state<string | null>(null);
  #loadingMore = false;
  /** Chats on screen that are not in the loaded part of the list. */
  #unlisted = $state.raw<SessionEntry[]>([]);

  readonly all = $derived([...this.pinned, ...this.list]);
  /** Whether there are more chats to load. */
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
      // As many as are loaded; untracked, so that an effect that calls this is not rerun by its result.
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
      const isFirstVisit = !this.isLoaded && !safeLocalStorage.read('seen');
      for (const entry of this.all) if (isFirstVisit || this.#isRead(entry)) this.#markSeen(entry);
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
      this.markOlderAsRead(sessions);
      const knownPaths = new Set(this.list.map(({ path }) => path));
      this.list = [...this.list, ...sessions.filter(({ path }) => !knownPaths.has(path))];
      this.#cursor = cursor;
    } catch (error) {
      this.problem = toProblem(error, m.shell_doing_list_chats());
    } finally {
      this.#loadingMore = false;
    }
  }

  /** Marks chats as read that were never opened here and are older than the end of the list. */
  markOlderAsRead(entries: readonly SessionEntry[]): void {
    const last = this.list.at(-1);
    if (!last || !this.hasMore) return;
    const knownPaths = new Set(this.list.map(({ path }) => path));
    const isNew = ({ path, updatedAt }: SessionEntry): boolean =>
      knownPaths.has(path) || this.#seenCounts.has(path) || updatedAt > last.updatedAt;
    const oldEntries = entries.filter((entry) => !isNew(entry));
    for (const entry of oldEntries) this.#markSeen(entry);
    if (oldEntries.length > 0) this.#storeSeen();
  }

  /** Loads the entry of the chat on screen if the list does not contain it. */
  async #findCurrent(): Promise<void> {
    const path = this.current;
    if (path === null || this.all.some((entry) => entry.path === path)) return;
    try {
      this.#unlisted = (await gateway.call('sessions.list', { paths: [path] })).sessions;
    } catch (error) {
      // The address contains an invalid id.
      if (!(error instanceof RpcError && error.code === 'NOT_FOUND')) throw error;
    }
  }

  findEntry(agentId: string, sessionId: string): SessionEntry | undefined {
    const matches = (entry: SessionEntry): boolean => entry.agentId === agentId && entry.sessionId === sessionId;
    return this.all.find(matches) ?? this.#unlisted.find(matches);
  }

  /** Sets the chat on screen and marks it as read. */
  setCurrent(path: string | null): void {
    this.current = path;
    const entry = this.all.find((candidate) => candidate.path === path);
    if (entry && this.#isRead(entry) && this.#markSeen(entry)) this.#storeSeen();
    if (!entry && this.isLoaded)
      this.#findCurrent().catch((error: unknown) => (this.problem = toProblem(error, m.shell_doing_list_chats())));
  }

  /** Marks a chat as visible next to another one, and thus as read. Returns a function that ends this. */
  markVisible(path: string): () => void {
    this.#visiblePaths.add(path);
    return () => void this.#visiblePaths.delete(path);
  }

  /** Marks an imported chat as read. */
  markAsRead(entry: SessionEntry): void {
    this.#markSeen(entry);
  }

  isUnread(entry: SessionEntry): boolean {
    return !this.#isRead(entry) && !entry.running && entry.messageCount > (this.#seenCounts.get(entry.path) ?? 0);
  }

  async rename(entry: SessionEntry, title: string): Promise<void> {
    const { session } = await gateway.call('sessions.rename', { path: entry.path, title });
    this.#patch(entry.path, session);
  }

  /** Rejects if the gateway refuses, as do the methods below. */
  async pin({ path }: SessionEntry, pinned: boolean): Promise<void> {
    await gateway.call('sessions.pin', { path, pinned });
    await this.load();
  }

  async archive({ path }: SessionEntry, archived: boolean): Promise<void> {
    await gateway.call('sessions.archive', { path, archived });
    await this.load();
  }

  /** Sets folder and tags of a chat; `folder` null removes it from its folder. */
  async organise({ path, folder, tags }: SessionEntry, to: Pick<SessionEntry, 'folder' | 'tags'>): Promise<void> {
    if (to.folder !== folder) this.#patch(path, (await gateway.call('sessions.move', { path, folder: to.folder })).session);
    if (to.tags.join('\n') !== tags.join('\n')) this.#patch(path, (await gateway.call('sessions.tag', { path, tags: to.tags })).session);
  }

  /** Sets whether memory is searched before replies in a chat. `create`: the chat may not exist yet. */
  async setRecall(path: string, recall: boolean, create = false): Promise<void> {
    await gateway.call('sessions.setRecall', { path, enabled: recall, create });
    this.#patch(path, { recall });
  }

  /** Sets how the model answers in a chat; null resets it. `create`: the chat may not exist yet. */
  async setParameters(path: string, parameters: ModelParameters | null, create = false): Promise<void> {
    this.#patch(path, (await gateway.call('sessions.setParameters', { path, parameters, create })).session);
  }

  /** Attaches collections to a chat, and detaches all others. `create`: the chat may not exist yet. */
  async setCollections(path: string, collectionIds: readonly string[], create = false): Promise<void> {
    this.#patch(path, (await gateway.call('sessions.setCollections', { path, collectionIds: [...collectionIds], create })).session);
  }

  /** Sets whether the agent gets tools for the web, or for the browser, in a chat. `create`: the chat may not exist yet. */
  async setTools(path: string, tools: 'web' | 'browser', enabled: boolean, create = false): Promise<void> {
    // A host of an older build knows only the web.
    const params = { path, enabled, create, ...(tools === 'web' ? {} : { tools }) };
    this.#patch(path, (await gateway.call('sessions.setWeb', params)).session);
  }

  /** Moves a chat to the trash. Resolves with its id there, if it can be restored. */
  async remove(entry: SessionEntry): Promise<string | undefined> {
    let trashId: string | undefined;
    try {
      ({ trashId } = await gateway.call('sessions.delete', { path: entry.path }));
    } catch (error) {
      // Another tab has already deleted it.
      if (!(error instanceof RpcError && error.code === 'NOT_FOUND')) throw error;
    }
    this.#drop(entry.path);
    this.#seenCounts.delete(entry.path);
    this.#storeSeen();
    return trashId;
  }

  #patch(path: string, change: Partial<SessionEntry>): void {
    const applyChange = (entry: SessionEntry): SessionEntry => (entry.path === path ? { ...entry, ...change } : entry);
    this.list = this.list.map(applyChange);
    this.pinned = this.pinned.map(applyChange);
    this.#unlisted = this.#unlisted.map(applyChange);
  }

  #drop(path: string): void {
    const isOther = (entry: SessionEntry): boolean => entry.path !== path;
    this.list = this.list.filter(isOther);
    this.pinned = this.pinned.filter(isOther);
    this.#unlisted = this.#unlisted.filter(isOther);
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
