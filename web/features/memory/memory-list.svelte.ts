import { untrack } from 'svelte';
import { SvelteMap } from 'svelte/reactivity';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import type { MemoryCategory, MemoryEntry } from './types.ts';
import { mergeRemoved } from './merge-removed.ts';
import { announcer } from '#app/state/announcer.svelte.ts';

/** Delay of a reload after a change, in milliseconds, as changes often come together. */
const REFRESH_MS = 150;
/** Memories per page. */
const PAGE_SIZE = 100;

interface MemoryAgent {
  id: string;
  name: string;
  /** Agents with one workspace have one memory. */
  workspace: string;
}

interface DeletedMemory {
  /** Null if another device had already deleted it: it cannot be restored here. */
  entry: MemoryEntry | null;
  /** Its id in the trash. */
  trashId?: string;
  /** Number of the visit in which it was deleted. */
  visit: number;
}

/** An agent's long-term memories, including recently deleted ones, which can be restored. */
class Memory {
  agents = $state.raw<MemoryAgent[]>([]);
  /** Agent whose memory is shown. */
  agentId = $state('main');
  /** Null before the first answer. */
  entries = $state.raw<MemoryEntry[] | null>(null);
  /** Category listed; null for all. */
  category = $state<MemoryCategory | null>(null);
  /** Number of memories by category. */
  counts = $state.raw<Partial<Record<MemoryCategory, number>>>({});
  problem = $state<Problem | null>(null);
  /** The folder to which the workspace is mirrored; null if none. */
  folder = $state<string | null>(null);
  /** Incremented at each change of the shown memory. */
  version = $state(0);
  /** Keys of memories with a pending request to delete them. */
  readonly #deleting = new Set<string>();
  /** Deleted memories by agent and id. */
  readonly #deletedEntries = new SvelteMap<string, DeletedMemory>();
  /** Counts how often the page was opened. */
  #visitCount = $state(0);
  #loadCount = 0;
  #cursor = $state<string | null>(null);
  #loadingMore = false;

  /** Whether there are more memories to load. */
  readonly hasMore = $derived(this.#cursor !== null);

  readonly workspace = $derived(this.agents.find(({ id }) => id === this.agentId)?.workspace ?? this.agentId);
  /** The newest first; memories deleted during this visit keep their places. */
  readonly visibleEntries = $derived.by(() => {
    if (this.entries === null) return null;
    const ids = new Set(this.entries.map(({ id }) => id));
    const deleted = [...this.#deletedEntries].flatMap(([key, { entry, visit }]) =>
      entry && visit === this.#visitCount && key === toKey(this.agentId, entry.id) && !ids.has(entry.id) && this.#isListed(entry)
        ? [entry]
        : [],
    );
    return [...this.entries, ...deleted].sort((a, b) => b.createdAt - a.createdAt);
  });

  /** Follows changes while the page is open. Returns a function that stops it. */
  watch(): () => void {
    let timer: ReturnType<typeof setTimeout> | undefined;
    untrack(() => this.#visitCount++);
    const unsubscribe = gateway.on('memory.changed', ({ workspace }) => {
      if (workspace !== this.workspace) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        this.version++;
      }, REFRESH_MS);
    });
    return () => {
      unsubscribe();
      clearTimeout(timer);
    };
  }

  choose(agentId: string): void {
    if (agentId === this.agentId) return;
    this.agentId = agentId;
    this.category = null;
    this.counts = {};
    this.#clearEntries();
    this.problem = null;
    this.folder = null;
  }

  /** Loads the list of agents, and the folder to which the shown memory is mirrored. */
  async loadAgents(): Promise<void> {
    try {
      const [{ agents }, { mirrors }] = await Promise.all([gateway.call('agents.list', {}), gateway.call('workspace.mirrors', {})]);
      this.agents = agents.map(({ id, config: { name = id, workspace = id } }) => ({ id, name, workspace }));
      this.folder = mirrors.find(({ workspace }) => workspace === this.workspace)?.folder ?? null;
    } catch (error) {
      if (!isConnectionLost(error)) this.problem = toProblem(error, m.memory_words_doing_read_agents());
    }
  }

  async load(): Promise<void> {
    const loadId = ++this.#loadCount;
    const { agentId, category } = this;
    // As many as are loaded; untracked, so that an effect that calls this is not rerun by its result.
    const count = untrack(() => this.entries?.length ?? 0);
    const limit = Math.min(10_000, Math.max(PAGE_SIZE, count));
    try {
      const { memories, byCategory, cursor } = await gateway.call('memory.list', { agentId, limit, ...(category && { category }) });
      if (loadId !== this.#loadCount || agentId !== this.agentId) return;
      // The last memory of the category was deleted.
      if (category && byCategory[category] === undefined) return void this.filterByCategory(null);
      this.entries = mergeRemoved(this.entries ?? [], memories, ({ id }) => this.#deleting.has(toKey(agentId, id)));
      this.counts = byCategory;
      this.#cursor = cursor;
      this.problem = null;
      // Restored on another device, or remembered again.
      for (const { id } of memories) this.#deletedEntries.delete(toKey(agentId, id));
    } catch (error) {
      if (loadId === this.#loadCount && !isConnectionLost(error)) this.problem = toProblem(error, m.memory_words_doing_read());
    }
  }

  async loadMore(): Promise<void> {
    if (this.#cursor === null || this.#loadingMore) return;
    const loadId = this.#loadCount;
    const { agentId, category } = this;
    this.#loadingMore = true;
    try {
      const { memories, cursor } = await gateway.call('memory.list', {
        ...{ agentId, limit: PAGE_SIZE, cursor: this.#cursor },
        ...(category && { category }),
      });
      // The list was reloaded or replaced in the meantime.
      if (loadId !== this.#loadCount || !this.entries) return;
      const ids = new Set(this.entries.map(({ id }) => id));
      this.entries = [...this.entries, ...memories.filter(({ id }) => !ids.has(id))];
      this.#cursor = cursor;
    } catch (error) {
      if (!isConnectionLost(error)) this.problem = toProblem(error, m.memory_words_doing_read());
    } finally {
      this.#loadingMore = false;
    }
  }

  /** Lists one category, or all. */
  filterByCategory(category: MemoryCategory | null): void {
    if (category === this.category) return;
    this.category = category;
    this.#clearEntries();
    void this.load();
  }

  #clearEntries(): void {
    this.entries = null;
    this.#cursor = null;
  }

  #isListed({ category }: MemoryEntry): boolean {
    return this.category === null || this.category === category;
  }

  /** Adds a memory. Returns false if it exists already. This and the following methods reject if the gateway refuses. */
  async add(text: string, category: MemoryCategory): Promise<boolean> {
    const { added } = await gateway.call('memory.add', { agentId: this.agentId, text, category });
    if (added) announcer.announce(m.memory_words_noted());
    return added;
  }

  async update(id: string, change: { text: string; category: MemoryCategory }): Promise<MemoryEntry> {
    const { memory } = await gateway.call('memory.update', { agentId: this.agentId, id, ...change });
    this.entries = this.entries?.map((entry) => (entry.id === id ? memory : entry)) ?? null;
    announcer.announce(m.memory_words_saved());
    return memory;
  }

  async remove(agentId: string, id: string): Promise<void> {
    const key = toKey(agentId, id);
    this.#deleting.add(key);
    try {
      const { memory, trashId } = await gateway.call('memory.delete', { agentId, id });
      this.#setDeleted(agentId, id, { entry: memory, trashId });
    } catch (error) {
      // The memory is already gone.
      if (!(error instanceof RpcError && error.code === 'NOT_FOUND')) throw error;
      this.#setDeleted(agentId, id, null);
    } finally {
      this.#deleting.delete(key);
    }
    announcer.announce(m.memory_words_deleted());
  }

  #setDeleted(agentId: string, id: string, deleted: Pick<DeletedMemory, 'entry' | 'trashId'> | null): void {
    // Lists requested before this still contain the memory.
    this.#loadCount++;
    this.#deletedEntries.set(toKey(agentId, id), { entry: null, ...deleted, visit: this.#visitCount });
    if (agentId === this.agentId) this.entries = this.entries?.filter((each) => each.id !== id) ?? null;
  }

  async restore(agentId: string, id: string): Promise<void> {
    const key = toKey(agentId, id);
    const { entry, trashId } = this.#deletedEntries.get(key) ?? {};
    if (!entry || trashId === undefined) return;
    await gateway.call('trash.restore', { id: trashId });
    if (agentId === this.agentId && this.entries && !this.entries.some((each) => each.id === id)) this.entries = [...this.entries, entry];
    this.#deletedEntries.delete(key);
    announcer.announce(m.memory_words_put_back());
  }

  /** Whether a memory keeps its place in lists: it can be restored, or is being deleted. */
  isPlaceKept(agentId: string, id: string): boolean {
    return this.#deleting.has(toKey(agentId, id)) || this.getDeletedState(agentId, id) === 'undoable';
  }

  /** Whether a memory was deleted: `no`, `undoable`, or `gone` if it cannot be restored. */
  getDeletedState(agentId: string, id: string): 'no' | 'undoable' | 'gone' {
    const deleted = this.#deletedEntries.get(toKey(agentId, id));
    return !deleted ? 'no' : deleted.entry ? 'undoable' : 'gone';
  }
}

const toKey = (agentId: string, id: string): string => `${agentId}/${id}`;

export const memory = new Memory();
