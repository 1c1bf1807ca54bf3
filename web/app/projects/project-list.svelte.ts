import type { Project, ProjectChanges } from '#shared/rpc/methods/project-contracts.ts';
import { isConnectionLost } from '#kit/problems.ts';
import { gateway } from '../connection/gateway-connection.svelte.ts';
import { sessions } from '../state/session-list.svelte.ts';

/** Delay of a reload after a change, in milliseconds: moving several chats sends several events. */
const REFRESH_MS = 150;

/** Type of the data of a chat that is dragged: its path. */
export const DRAGGED_CHAT = 'application/x-perch-chat';

/** The projects of the vault. */
class ProjectList {
  /** Most recently used first; null before the first answer. */
  list = $state.raw<readonly Project[] | null>(null);
  /** Error of the last load. */
  error = $state.raw<unknown>(null);
  readonly #byId = $derived(new Map(this.list?.map((project) => [project.id, project])));
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isStarted = false;

  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    gateway.on('project.changed', () => (this.#timer ??= setTimeout(() => void this.load(), REFRESH_MS)));
  }

  async load(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    try {
      this.list = (await gateway.call('projects.list', {})).projects;
      this.error = null;
    } catch (error) {
      if (!isConnectionLost(error)) this.error = error;
    }
  }

  /** Undefined for the id of a deleted project, too. */
  find(id: string | null | undefined): Project | undefined {
    return this.#byId.get(id ?? '');
  }

  /** Rejects if the gateway refuses, as do the methods below. */
  async create(changes: ProjectChanges & { name: string; folder?: string }): Promise<Project> {
    const { project } = await gateway.call('projects.create', changes);
    await Promise.all([this.load(), changes.folder === undefined ? undefined : sessions.load()]);
    return project;
  }

  async update(id: string, changes: ProjectChanges): Promise<Project> {
    const { project } = await gateway.call('projects.update', { id, ...changes });
    this.list = this.list?.map((each) => (each.id === id ? project : each)) ?? null;
    return project;
  }

  /** Resolves with the ids in the trash. */
  async remove(id: string, withChats: boolean): Promise<string[]> {
    const { trashIds } = await gateway.call('projects.delete', { id, withChats });
    this.list = this.list?.filter((each) => each.id !== id) ?? null;
    return trashIds;
  }

  /** Creates a chat in a project. */
  async createChat(path: string, id: string): Promise<void> {
    await gateway.call('projects.addChats', { id, paths: [path], create: true });
  }

  /** Moves chats to a project; null takes them out of theirs. */
  async moveChats(paths: readonly string[], id: string | null): Promise<void> {
    if (id === null) await gateway.call('projects.removeChats', { paths: [...paths] });
    else await gateway.call('projects.addChats', { id, paths: [...paths] });
    await Promise.all([this.load(), sessions.load()]);
  }
}

export const projects = new ProjectList();
