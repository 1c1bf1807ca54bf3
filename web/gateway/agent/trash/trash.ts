import type { Clock } from '#shared/async/clock.ts';
import type { TrashEntry } from '#shared/rpc/methods/trash-contracts.ts';
import { TRASH_MS } from '#shared/trash-retention.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { DrawingStore } from '../../drawings/drawing-store.ts';
import { createSessionChangedEvent } from '../../storage/session-views.ts';
import type {
  TrashedChat,
  TrashedDrawing,
  TrashedMemory,
  TrashedPage,
  TrashedProject,
  TrashItem,
} from '../../storage/records/trash-item.ts';
import { StorageFullError } from '../../storage/vault-errors.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import { isChannelSession } from '../../system/channel-session.ts';
import type { EventBus } from '../../system/event-bus.ts';
import type { Lazy } from '../../system/modules.ts';
import { listSubAgentSessions } from '../sub-agents/sub-agent-sessions.ts';
import { type Agents, getWorkspaceName } from '../agents.ts';
import { deleteProjectFiles } from '../projects/delete-project-files.ts';
import { labelMemory } from '../knowledge/memory/label-memory.ts';
import type { AgentMemories } from '../knowledge/memory/agent-memories.ts';
import type { LongTermMemories } from '../knowledge/memory/long-term-memories.ts';
import { toPageLabel } from '../knowledge/wiki/page-label.ts';
import type { Wikis } from '../knowledge/wiki/wikis.ts';
import type { ContentLabels } from '../trust/content-labels.ts';

/** Maximum number of names tried for a page whose path is in use. */
const MAX_NAMES = 100;

/** Maximum characters of a session's id before the random part of another one. */
const MAX_PREFIX_CHARS = 64;

export interface TrashDeps {
  vault: Pick<Vault, 'trash' | 'sessions' | 'files' | 'collection'>;
  agents: Pick<Agents, 'get'>;
  hub: Pick<EventBus, 'emit'>;
  clock: Pick<Clock, 'now'>;
  labels: ContentLabels;
  drawings: Lazy<DrawingStore>;
  memories: Lazy<AgentMemories>;
  longTermMemories: Lazy<LongTermMemories>;
  wikis: Lazy<Wikis>;
}

type WithoutTime<Item> = Omit<Item, 'id' | 'deletedAt'>;
type TrashContent = WithoutTime<TrashedPage> | WithoutTime<TrashedMemory> | WithoutTime<TrashedProject>;
type RestoredItem = Pick<TrashEntry, 'kind' | 'agentId'> & { path: string };

const isExpired = ({ deletedAt }: TrashItem, now: number): boolean => now - deletedAt >= TRASH_MS;

/** Deleted chats, memories, pages, drawings and projects, until they are restored or expire. */
export class Trash {
  readonly #deps: TrashDeps;

  constructor(deps: TrashDeps) {
    this.#deps = deps;
  }

  async list(): Promise<TrashEntry[]> {
    const items = (await (await this.#deps.vault.trash()).list()).sort((a, b) => b.deletedAt - a.deletedAt);
    return items.map((item) => ({
      ...{ id: item.id, kind: item.kind, title: item.title, agentId: getAgent(item), deletedAt: item.deletedAt },
      expiresAt: item.deletedAt + TRASH_MS,
    }));
  }

  /**
   * Moves a session to the trash; with `keepsSession` only its messages. Resolves with the id in the trash; undefined if there is no such
   * session. If storage is full the session is deleted at once, which frees space, and the id is null.
   */
  async moveSession(key: string, options?: { keepsSession: boolean }): Promise<string | null | undefined> {
    const { vault } = this.#deps;
    const item = this.#createItem();
    const subAgentKeys = (await listSubAgentSessions(vault, [key])).map((session) => session.key);
    try {
      if (!(await (await vault.trash()).moveSession(key, item, { keepsSession: options?.keepsSession ?? false, subAgentKeys })))
        return undefined;
    } catch (error) {
      if (!(error instanceof StorageFullError)) throw error;
      for (const each of subAgentKeys) await vault.sessions.remove(each);
      return (await (options?.keepsSession ? vault.sessions.clear(key) : vault.sessions.remove(key))) ? null : undefined;
    }
    this.#notifyChange();
    return item.id;
  }

  /** Moves a drawing to the trash and resolves with its id there; null if storage is full and it was deleted. Throws `NOT_FOUND`. */
  async moveDrawing(drawingId: string): Promise<string | null> {
    const { drawings, labels } = this.#deps;
    const item = { ...this.#createItem(), outside: [...(await labels.getSources('drawing', drawingId))] };
    const isKept = await (await drawings.load()).remove(drawingId, item);
    await labels.remove('drawing', drawingId);
    this.#notifyChange();
    return isKept ? item.id : null;
  }

  /** Stores a page, memory or project, and takes it back if `remove` fails. Resolves with its id in the trash. */
  async store(content: TrashContent, remove: () => Promise<unknown>): Promise<string> {
    const trash = await this.#deps.vault.trash();
    const item = { ...this.#createItem(), ...content };
    await trash.add(item);
    try {
      await remove();
    } catch (error) {
      await trash.remove([item.id]);
      throw error;
    }
    this.#notifyChange();
    return item.id;
  }

  /** Throws `NOT_FOUND` if the item or its agent does not exist. */
  async restore(id: string): Promise<RestoredItem> {
    const item = await (await this.#deps.vault.trash()).get(id);
    if (!item) throw createMissingError(id);
    const path = await this.#restoreItem(item);
    this.#notifyChange();
    return { kind: item.kind, agentId: getAgent(item), path };
  }

  /** Deletes an item permanently. Throws `NOT_FOUND`. */
  async delete(id: string): Promise<void> {
    const item = await (await this.#deps.vault.trash()).get(id);
    if (!item || (await (await this.#deps.vault.trash()).remove([id])) === 0) throw createMissingError(id);
    await this.#deleteFiles([item]);
    this.#notifyChange();
  }

  /** Deletes all items permanently, or those that have expired, and returns their number. */
  async empty({ onlyExpired }: { onlyExpired: boolean } = { onlyExpired: false }): Promise<number> {
    const { vault, clock } = this.#deps;
    const items = (await (await vault.trash()).list()).filter((item) => !onlyExpired || isExpired(item, clock.now()));
    const count = await (await vault.trash()).remove(items.map(({ id }) => id));
    await this.#deleteFiles(items);
    if (count > 0) this.#notifyChange();
    return count;
  }

  #restoreItem(item: TrashItem): Promise<string> {
    if (item.kind === 'chat') return this.#restoreChat(item);
    if (item.kind === 'memory') return this.#restoreMemory(item);
    if (item.kind === 'page') return this.#restorePage(item);
    if (item.kind === 'project') return this.#restoreProject(item);
    return this.#restoreDrawing(item);
  }

  async #restoreDrawing(item: TrashedDrawing): Promise<string> {
    const { labels, drawings } = this.#deps;
    const { id } = item.drawing;
    await labels.add('drawing', id, item.outside);
    await (await drawings.load()).restore(item);
    return id;
  }

  async #restoreChat(item: TrashedChat): Promise<string> {
    const { vault, hub } = this.#deps;
    const { sessionId, key: formerKey } = item.session;
    // Messages of a channel that store no sources are known by the key of their session.
    const prefix = isChannelSession(formerKey) ? `${sessionId.slice(0, MAX_PREFIX_CHARS)}-` : '';
    const { key } = await (await vault.trash()).restoreSession(item, `${prefix}${crypto.randomUUID()}`);
    hub.emit(createSessionChangedEvent(key), key);
    return `${key}.jsonl`;
  }

  /** A project that was imported again meanwhile stays as it is. */
  async #restoreProject({ id, project }: TrashedProject): Promise<string> {
    const { vault, hub } = this.#deps;
    await vault.collection('projects').update(project.id, (existing) => existing ?? project);
    await (await vault.trash()).remove([id]);
    hub.emit({ event: 'project.changed', payload: { id: project.id } }, null);
    return project.id;
  }

  /** Deletes the files of deleted projects, unless they exist again. */
  async #deleteFiles(items: readonly TrashItem[]): Promise<void> {
    const { vault } = this.#deps;
    for (const item of items) {
      if (item.kind !== 'project' || (await vault.collection('projects').get(item.project.id))) continue;
      await deleteProjectFiles(item.project, this.#deps);
    }
  }

  async #restoreMemory({ id, agentId, workspace, text, category, createdAt, outside }: TrashedMemory): Promise<string> {
    const { vault, memories, agents } = this.#deps;
    const name = workspace ?? getWorkspaceName(agents.get(agentId));
    await labelMemory(this.#deps, name, text, outside);
    const manager = await (await memories.load()).openWorkspace(name);
    const memory = await manager.addMemory(text, category, createdAt);
    await (await vault.trash()).remove([id]);
    return memory.id;
  }

  async #restorePage({ id, agentId, path, content, frontMatter, outside }: TrashedPage): Promise<string> {
    const { vault, wikis, labels } = this.#deps;
    const { vault: wiki, workspace, prepare } = (await wikis.load()).getWiki(agentId);
    const sources = outside ?? (await labels.getSources('file', toPageLabel(workspace, path)));
    for (let number = 1; ; number++) {
      const freePath = number === 1 ? path : path.replace(/(\.md)?$/, ` ${number}$1`);
      if (number < MAX_NAMES && (await wiki.getPage(freePath))) continue;
      await labels.add('file', toPageLabel(workspace, freePath), sources);
      try {
        await wiki.savePage({ path: freePath, content, ...(frontMatter === undefined ? {} : { frontMatter }) }, { seen: null });
      } catch (error) {
        if (number < MAX_NAMES && error instanceof RpcError && error.code === 'ALREADY_EXISTS') continue;
        throw error;
      }
      await (await vault.trash()).remove([id]);
      await prepare();
      return freePath;
    }
  }

  #createItem(): { id: string; deletedAt: number } {
    return { id: crypto.randomUUID(), deletedAt: this.#deps.clock.now() };
  }

  #notifyChange(): void {
    this.#deps.hub.emit({ event: 'trash.changed', payload: {} }, null);
  }
}

const getAgent = (item: TrashItem): string | null =>
  item.kind === 'drawing' || item.kind === 'project' ? null : item.kind === 'chat' ? item.session.agentId : item.agentId;

const createMissingError = (id: string): RpcError => new RpcError('NOT_FOUND', `The trash has no item with id "${id}".`);
