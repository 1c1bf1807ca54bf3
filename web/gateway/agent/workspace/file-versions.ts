import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { FileEntry, FileVersion } from '#shared/rpc/methods/workspace-contracts.ts';
import type { Clock } from '#shared/async/clock.ts';
import { LONG_TERM_FILE } from '../../knowledge/memory/layout.ts';
import type { ContentLabels } from '../trust/content-labels.ts';
import { toSource } from '../trust/content-sources.ts';
import { getMemoryIds } from '../trust/file-sources.ts';
import type { FileVersionRecord, Vault } from '../../storage/vault-interface.ts';
import type { Workspaces } from './workspaces.ts';

/** Maximum number of versions per file, and per workspace. */
const MAX_PER_FILE = 20;
const MAX_PER_WORKSPACE = 200;

interface FileVersionsDeps {
  vault: Pick<Vault, 'collection' | 'files'>;
  workspaces: Workspaces;
  labels: ContentLabels;
  clock: Pick<Clock, 'now'>;
}

type MemoryLabel = NonNullable<FileVersionRecord['memories']>[number];

/** Earlier versions of files that tools replaced or removed. */
export class FileVersions {
  readonly #deps: FileVersionsDeps;

  constructor(deps: FileVersionsDeps) {
    this.#deps = deps;
  }

  /** Saves the current file before a tool changes it. Returns false if there is no file. */
  async save(workspace: string, path: string, toolCallId: string | undefined): Promise<boolean> {
    const { vault, labels, clock } = this.#deps;
    const file = await vault.files.get(workspace, path);
    if (!file) return false;
    const { content, encoding, mimeType, size, modifiedAt } = file;
    const outside = await labels.getSources('file', `${workspace}/${path}`);
    const memories = await this.#getMemoryLabels(workspace, file);
    await this.#store.put({
      ...{ id: `${workspace}/${path}@${crypto.randomUUID()}`, workspace, path, content, encoding, mimeType, size, modifiedAt },
      at: clock.now(),
      ...(toolCallId === undefined ? {} : { toolCallId }),
      ...(outside.length > 0 ? { outside: [...outside] } : {}),
      ...(memories ? { memories } : {}),
    });
    await this.#prune(workspace, path);
    return true;
  }

  /** Newest first. */
  async list(workspace: string, path?: string): Promise<FileVersion[]> {
    const versions = await this.#listVersions(workspace, path);
    return versions.map(({ id, path, size, modifiedAt, at, toolCallId }) => {
      return { id, path, size, modifiedAt, at, ...(toolCallId === undefined ? {} : { toolCallId }) };
    });
  }

  /** The newest version that this tool call replaced or removed. Throws `NOT_FOUND`. */
  async findReplaced(toolCallId: string): Promise<string> {
    const versions = (await this.#store.list()).filter((version) => version.toolCallId === toolCallId).sort((a, b) => b.at - a.at);
    const [newest] = versions;
    if (!newest) throw new RpcError('NOT_FOUND', 'The earlier version is no longer stored.');
    return newest.id;
  }

  /** Restores a version; the current file is saved as a version. Throws `NOT_FOUND`. */
  async restore(id: string): Promise<FileEntry> {
    const { workspaces, labels } = this.#deps;
    const version = await this.#store.get(id);
    if (!version) throw new RpcError('NOT_FOUND', `No version with id "${id}".`);
    const { workspace, path, content, encoding, mimeType, outside = [] } = version;
    const memories = version.memories ?? toUnknownLabels(version);
    const current = memories.length === 0 ? undefined : await this.#deps.vault.files.get(workspace, path);
    const present = current ? getMemoryIds(current) : new Set();
    await this.save(workspace, path, undefined);
    // A memory that still exists keeps its current label, which the user may have removed.
    for (const { id: memory, outside: sources } of memories) {
      if (!present.has(memory)) await labels.add('memory', `${workspace}/${memory}`, sources);
    }
    await labels.add('file', `${workspace}/${path}`, outside);
    const file = await workspaces.write(workspace, { path, content, encoding, mimeType });
    if (outside.length === 0) await labels.remove('file', `${workspace}/${path}`);
    await this.#store.remove(id);
    return file;
  }

  /** Labels of the memories in the long-term file; undefined for other files. */
  async #getMemoryLabels(
    workspace: string,
    file: Pick<FileVersionRecord, 'content' | 'encoding' | 'path'>,
  ): Promise<MemoryLabel[] | undefined> {
    if (file.path !== LONG_TERM_FILE) return undefined;
    const labelled = await this.#deps.labels.list('memory', `${workspace}/`);
    return [...getMemoryIds(file)].flatMap((id) => {
      const outside = labelled.get(`${workspace}/${id}`);
      return outside ? [{ id, outside: [...outside] }] : [];
    });
  }

  async #listVersions(workspace: string, path: string | undefined): Promise<FileVersionRecord[]> {
    const all = await this.#store.list(path === undefined ? `${workspace}/` : `${workspace}/${path}@`);
    return all.filter((version) => version.workspace === workspace).sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
  }

  async #prune(workspace: string, path: string): Promise<void> {
    const [ofFile, all] = await Promise.all([this.#listVersions(workspace, path), this.#listVersions(workspace, undefined)]);
    const old = new Set([...ofFile.slice(MAX_PER_FILE), ...all.slice(MAX_PER_WORKSPACE)].map(({ id }) => id));
    for (const id of old) await this.#store.remove(id);
  }

  get #store() {
    return this.#deps.vault.collection('fileVersions');
  }
}

/** Labels for a version of the long-term file that an earlier build saved without them: all its memories count as unreviewed. */
const toUnknownLabels = (version: FileVersionRecord): MemoryLabel[] =>
  version.path === LONG_TERM_FILE
    ? [...getMemoryIds(version)].map((id) => ({ id, outside: [toSource('unknown', 'an earlier version')] }))
    : [];
