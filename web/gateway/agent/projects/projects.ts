import type { Clock } from '#shared/async/clock.ts';
import { MAX_PROJECTS, type Project, type ProjectChanges } from '#shared/rpc/methods/project-contracts.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { SessionRecord } from '../../storage/chat-records.ts';
import { getProjectWorkspace, type ProjectRecord } from '../../storage/records/project-record.ts';
import { createSession, createSessionChangedEvent, parseSessionPath } from '../../storage/session-views.ts';
import type { Collection, Vault } from '../../storage/vault-interface.ts';
import type { EventBus } from '../../system/event-bus.ts';
import type { Lazy } from '../../system/modules.ts';
import type { Agents } from '../agents.ts';
import type { Runs } from '../runs/runs.ts';
import type { Trash } from '../trash/trash.ts';

export interface ProjectsDeps {
  vault: Pick<Vault, 'collection' | 'sessions'>;
  hub: Pick<EventBus, 'emit'>;
  clock: Pick<Clock, 'now'>;
  agents: Agents;
  runs: Pick<Runs, 'clear'>;
  trash: Lazy<Trash>;
}

/** Changes whose undefined values leave the project as it is. */
type Changes = { [Name in keyof ProjectChanges]?: ProjectChanges[Name] | undefined };

/** The projects of the vault. A session names its project; a project does not list its sessions. */
export class Projects {
  readonly #deps: ProjectsDeps;

  constructor(deps: ProjectsDeps) {
    this.#deps = deps;
  }

  /** Most recently used first. */
  async list(archived?: boolean): Promise<Project[]> {
    const [records, sessions] = await Promise.all([this.#store.list(), this.#deps.vault.sessions.list()]);
    const chats = Map.groupBy(sessions, ({ projectId, subAgent }) => (subAgent ? '' : (projectId ?? '')));
    return records
      .filter((record) => archived === undefined || record.archived === archived)
      .map((record) => toProject(record, chats.get(record.id) ?? []))
      .sort((a, b) => b.updatedAt - a.updatedAt);
  }

  /** Throws `NOT_FOUND`. */
  async get(id: string): Promise<Project> {
    return toProject(await this.require(id), await this.listChats(id));
  }

  /** The record of a project. Throws `NOT_FOUND`. */
  async require(id: string): Promise<ProjectRecord> {
    const record = await this.#store.get(id);
    if (!record) throw createMissingError(id);
    return record;
  }

  /** Its chats, without those of their sub-agents. */
  async listChats(id: string): Promise<SessionRecord[]> {
    return (await this.#deps.vault.sessions.list()).filter(({ projectId, subAgent }) => projectId === id && !subAgent);
  }

  /** Throws `NOT_FOUND` if an agent does not exist, or no chat is in the folder. */
  async create({ name, ...changes }: Changes & { name: string }, folder?: string): Promise<Project> {
    this.#requireAgents(changes);
    await this.#requireSpace();
    const chats = folder === undefined ? [] : await this.#listFolder(folder);
    const now = this.#deps.clock.now();
    const record = applyChanges(createProject(crypto.randomUUID(), name, now), changes);
    await this.#store.put(record);
    this.#notifyChange(record.id);
    await this.#assign(chats, record.id, { folder: null });
    return this.get(record.id);
  }

  /** Adds a record unless there is a project with its id. Returns whether it was added. */
  async add(record: ProjectRecord): Promise<boolean> {
    if (await this.#store.get(record.id)) return false;
    await this.#requireSpace();
    await this.#store.put(record);
    this.#notifyChange(record.id);
    return true;
  }

  /** Throws `NOT_FOUND` if the project or an agent does not exist. */
  async update(id: string, changes: Changes): Promise<Project> {
    this.#requireAgents(changes);
    const now = this.#deps.clock.now();
    const changed = await this.#store.update(id, (record) => record && { ...applyChanges(record, changes), updatedAt: now });
    if (!changed) throw createMissingError(id);
    this.#notifyChange(id);
    return this.get(id);
  }

  /** Moves a project, and its chats too if `withChats`, to the trash. Returns the ids there, that of the project first. */
  async delete(id: string, withChats: boolean): Promise<string[]> {
    const { runs, trash, hub } = this.#deps;
    const project = await this.require(id);
    const chats = await this.listChats(id);
    const bin = await trash.load();
    const trashIds = [await bin.store({ kind: 'project', title: project.name, project }, () => this.#store.remove(id))];
    this.#notifyChange(id, true);
    for (const { key } of withChats ? chats : []) {
      const trashId = await runs.clear(key, () => bin.moveSession(key));
      if (trashId) trashIds.push(trashId);
      hub.emit(createSessionChangedEvent(key, true), key);
    }
    return trashIds;
  }

  /** Moves chats to a project; returns how many were not in it. With `create`, missing ones are created. Throws `NOT_FOUND`. */
  async addChats(id: string, paths: readonly string[], create: boolean): Promise<number> {
    await this.require(id);
    const keys = [...new Set(paths.map(parseSessionPath))];
    const sessions = await Promise.all(keys.map((key) => this.#getSession(key, create)));
    return this.#assign(sessions, id);
  }

  /** Takes chats out of their projects; returns how many were in one. Throws `NOT_FOUND`. */
  async removeChats(paths: readonly string[]): Promise<number> {
    const keys = [...new Set(paths.map(parseSessionPath))];
    return this.#assign(await Promise.all(keys.map((key) => this.#getSession(key, false))), null);
  }

  async #getSession(key: string, create: boolean): Promise<SessionRecord> {
    const { vault, agents, clock } = this.#deps;
    const session = await vault.sessions.get(key);
    if (session) return session;
    const [agentId = '', sessionId = ''] = key.split('/');
    if (!create) throw new RpcError('NOT_FOUND', `No session with path "${key}.jsonl".`);
    agents.get(agentId);
    const created = createSession(agentId, sessionId, '', clock.now());
    await vault.sessions.add(created, []);
    return created;
  }

  async #assign(sessions: readonly SessionRecord[], projectId: string | null, change: { folder?: null } = {}): Promise<number> {
    const { vault, hub } = this.#deps;
    const moved = sessions.filter((session) => (session.projectId ?? null) !== projectId);
    for (const { key } of moved) {
      await vault.sessions.update(key, { ...change, projectId });
      hub.emit(createSessionChangedEvent(key), key);
    }
    const changed = new Set([projectId, ...moved.map((session) => session.projectId)]);
    if (moved.length > 0) for (const id of changed) if (id) this.#notifyChange(id);
    return moved.length;
  }

  async #listFolder(folder: string): Promise<SessionRecord[]> {
    const sessions = await this.#deps.vault.sessions.list();
    const found = sessions.filter((session) => session.folder === folder || session.folder?.startsWith(`${folder}/`));
    if (found.length === 0) throw new RpcError('NOT_FOUND', `No chats in the folder "${folder}".`);
    return found;
  }

  async #requireSpace(): Promise<void> {
    if ((await this.#store.keys()).length >= MAX_PROJECTS)
      throw new RpcError('INVALID_PARAMS', `There are ${MAX_PROJECTS} projects, which is the maximum. Delete one first.`);
  }

  #requireAgents({ agentId, agents = [] }: Changes): void {
    for (const id of [...(agentId ? [agentId] : []), ...agents]) this.#deps.agents.get(id);
  }

  #notifyChange(id: string, deleted = false): void {
    this.#deps.hub.emit({ event: 'project.changed', payload: { id, ...(deleted ? { deleted } : {}) } }, null);
  }

  get #store(): Collection<ProjectRecord> {
    return this.#deps.vault.collection('projects');
  }
}

/** A new project with default settings. */
export const createProject = (id: string, name: string, at: number): ProjectRecord => ({
  ...{ id, name, instructions: '', model: null, parameters: null, agentId: null, agents: [], collections: [], memory: 'own' },
  ...{ archived: false, createdAt: at, updatedAt: at },
});

function applyChanges({ outside, ...record }: ProjectRecord, changes: Changes): ProjectRecord {
  const set = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
  // Instructions that a person sets are the person's.
  return { ...record, ...(outside && changes.instructions === undefined ? { outside } : {}), ...set };
}

function toProject({ outside = [], ...record }: ProjectRecord, sessions: readonly SessionRecord[]): Project {
  return {
    ...record,
    outside,
    workspace: getProjectWorkspace(record),
    chats: sessions.filter(({ archived }) => !archived).length,
    updatedAt: sessions.reduce((latest, { updatedAt }) => Math.max(latest, updatedAt), record.updatedAt),
  };
}

const createMissingError = (id: string): RpcError => new RpcError('NOT_FOUND', `No project with id "${id}".`);
