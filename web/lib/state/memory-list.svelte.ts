import { untrack } from 'svelte';
import { SvelteMap } from 'svelte/reactivity';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { isConnectionLost, type Problem, toProblem } from '#lib/problems.ts';
import { gateway } from '#lib/gateway/gateway-connection.svelte.ts';
import { m } from '#lib/i18n/chat-messages.ts';
import type { MemoryCategory, MemoryEntry } from '#lib/memory/types.ts';
import { mergeRemoved } from '#lib/memory/merge-removed.ts';
import { announcer } from './announcer.svelte.ts';

/** Changes often come together: what is shown is read anew this long after the first, milliseconds. */
const REFRESH_MS = 150;
/** Memories that are loaded at first, and more by as many. */
const PAGE_SIZE = 100;

export interface MemoryAgent {
  id: string;
  name: string;
  /** Agents with one workspace have one memory. */
  workspace: string;
}

/** An agent's long-term memories, with those just forgotten, which can be restored. */
class Memory {
  agents = $state.raw<MemoryAgent[]>([]);
  /** Agent whose memory is shown. */
  agentId = $state('main');
  /** Null before the first answer. */
  entries = $state.raw<MemoryEntry[] | null>(null);
  /** Category listed; null for all. */
  category = $state<MemoryCategory | null>(null);
  /** How many there are of each. */
  counts = $state.raw<Partial<Record<MemoryCategory, number>>>({});
  problem = $state<Problem | null>(null);
  /** The folder that the workspace is mirrored in; null for none. */
  folder = $state<string | null>(null);
  /** Up by one whenever the memory that is looked at has changed. */
  version = $state(0);
  /** By agent and id. `entry` is null where another was quicker, so that there is nothing to put back. */
  /** Memories with a pending request to forget them. */
  readonly #forgetting = new Set<string>();
  readonly #forgottenEntries = new SvelteMap<string, { entry: MemoryEntry | null; outside?: string[] | undefined; visit: number }>();
  /** Counts how often somebody came to look. */
  #visits = $state(0);
  #loads = 0;
  #cursor = $state<string | null>(null);
  #loadingMore = false;

  /** There are more than have been loaded. */
  readonly hasMore = $derived(this.#cursor !== null);

  readonly workspace = $derived(this.agents.find(({ id }) => id === this.agentId)?.workspace ?? this.agentId);
  /** The newest first; those that were forgotten while one looks keep their places. */
  readonly visibleEntries = $derived.by(() => {
    if (this.entries === null) return null;
    const ids = new Set(this.entries.map(({ id }) => id));
    const gone = [...this.#forgottenEntries].flatMap(([key, { entry, visit }]) =>
      entry && visit === this.#visits && key === toKey(this.agentId, entry.id) && !ids.has(entry.id) && this.#isListed(entry)
        ? [entry]
        : [],
    );
    return [...this.entries, ...gone].sort((a, b) => b.createdAt - a.createdAt);
  });

  /** Follows what changes while somebody looks; the result ends it. */
  watch(): () => void {
    let timer: ReturnType<typeof setTimeout> | undefined;
    untrack(() => this.#visits++);
    const off = gateway.on('memory.changed', ({ workspace }) => {
      if (workspace !== this.workspace) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        this.version++;
      }, REFRESH_MS);
    });
    return () => {
      off();
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

  /** Reads which agents there are, and where the memory of the one that is looked at lies. */
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
    const load = ++this.#loads;
    const { agentId, category } = this;
    // As far as the list goes already; an effect that asks for it must not be run by what it gets.
    const count = untrack(() => this.entries?.length ?? 0);
    const limit = Math.min(10_000, Math.max(PAGE_SIZE, count));
    try {
      const { memories, byCategory, cursor } = await gateway.call('memory.list', { agentId, limit, ...(category && { category }) });
      if (load !== this.#loads || agentId !== this.agentId) return;
      // The last of it was forgotten.
      if (category && byCategory[category] === undefined) return void this.filterByCategory(null);
      this.entries = mergeRemoved(this.entries ?? [], memories, ({ id }) => this.#forgetting.has(toKey(agentId, id)));
      this.counts = byCategory;
      this.#cursor = cursor;
      this.problem = null;
      // Somebody else remembered it again.
      for (const { id } of memories) this.#forgottenEntries.delete(toKey(agentId, id));
    } catch (error) {
      if (load === this.#loads && !isConnectionLost(error)) this.problem = toProblem(error, m.memory_words_doing_read());
    }
  }

  async loadMore(): Promise<void> {
    if (this.#cursor === null || this.#loadingMore) return;
    const load = this.#loads;
    const { agentId, category } = this;
    this.#loadingMore = true;
    try {
      const { memories, cursor } = await gateway.call('memory.list', {
        ...{ agentId, limit: PAGE_SIZE, cursor: this.#cursor },
        ...(category && { category }),
      });
      // Meanwhile the list was read anew, or another.
      if (load !== this.#loads || !this.entries) return;
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

  /** False: it is remembered already. All of these reject where the gateway refuses. */
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

  async forget(agentId: string, id: string): Promise<void> {
    const key = toKey(agentId, id);
    this.#forgetting.add(key);
    try {
      const { forgotten, outside } = await gateway.call('memory.forget', { agentId, id });
      this.#setForgetState(agentId, id, forgotten, outside);
    } catch (error) {
      // The memory is already gone.
      if (!(error instanceof RpcError && error.code === 'NOT_FOUND')) throw error;
      this.#setForgetState(agentId, id, null);
    } finally {
      this.#forgetting.delete(key);
    }
    announcer.announce(m.memory_words_forgotten());
  }

  #setForgetState(agentId: string, id: string, entry: MemoryEntry | null, outside?: string[]): void {
    // Lists requested before this still contain the memory.
    this.#loads++;
    this.#forgottenEntries.set(toKey(agentId, id), { entry, outside, visit: this.#visits });
    if (agentId === this.agentId) this.entries = this.entries?.filter((each) => each.id !== id) ?? null;
  }

  async restore(agentId: string, id: string): Promise<void> {
    const key = toKey(agentId, id);
    const { entry, outside } = this.#forgottenEntries.get(key) ?? {};
    if (!entry) return;
    const { text, category, createdAt } = entry;
    const { memory } = await gateway.call('memory.add', { agentId, text, category, createdAt, ...(outside ? { outside } : {}) });
    if (agentId === this.agentId && this.entries && !this.entries.some((each) => each.id === memory.id))
      this.entries = [...this.entries, memory];
    this.#forgottenEntries.delete(key);
    announcer.announce(m.memory_words_put_back());
  }

  /** Whether its place is kept: it is forgotten and can be put back, or the answer to that is on its way behind lists that lack it already. */
  isPlaceKept(agentId: string, id: string): boolean {
    return this.#forgetting.has(toKey(agentId, id)) || this.getForgetState(agentId, id) === 'undoable';
  }

  /** `no`, or whether it can be put back. */
  getForgetState(agentId: string, id: string): 'no' | 'undoable' | 'gone' {
    const noted = this.#forgottenEntries.get(toKey(agentId, id));
    return !noted ? 'no' : noted.entry ? 'undoable' : 'gone';
  }
}

const toKey = (agentId: string, id: string): string => `${agentId}/${id}`;

export const memory = new Memory();
