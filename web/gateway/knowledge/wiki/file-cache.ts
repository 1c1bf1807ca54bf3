import type { Workspace, WorkspaceFile } from '../memory/workspace.ts';

/** Cache of parsed files of a workspace; a file is read again only if it has changed. */
export class FileCache<T> {
  readonly #workspace: Workspace;
  readonly #read: (text: string, file: WorkspaceFile) => T;
  readonly #cached = new Map<string, { size: number; modifiedAt: number; value: T }>();

  constructor(workspace: Workspace, read: (text: string, file: WorkspaceFile) => T) {
    this.#workspace = workspace;
    this.#read = read;
  }

  /** Parsed files accepted by `accepts`, by path. */
  async all(folder: string | undefined, accepts: (path: string) => boolean): Promise<Map<string, T>> {
    const found = new Map<string, T>();
    const listed = (await this.#workspace.list(folder)).filter(({ path }) => accepts(path));
    for (const file of listed) {
      const known = this.#cached.get(file.path);
      if (known?.size === file.size && known.modifiedAt === file.modifiedAt) {
        found.set(file.path, known.value);
        continue;
      }
      const text = await this.#workspace.read(file.path);
      if (text === undefined) continue;
      const value = this.#read(text, file);
      this.#cached.set(file.path, { size: file.size, modifiedAt: file.modifiedAt, value });
      found.set(file.path, value);
    }
    const paths = new Set(listed.map(({ path }) => path));
    for (const path of this.#cached.keys())
      if (!paths.has(path) && (folder === undefined || path.startsWith(`${folder}/`)) && accepts(path)) this.#cached.delete(path);
    return found;
  }

  /** Must be called after writing a file: two writes within a millisecond may be indistinguishable. */
  forget(path: string): void {
    this.#cached.delete(path);
  }
}
