import type { FileEntry } from '#shared/rpc/methods/workspace-contracts.ts';
import { m } from '#app/i18n/messages.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { saveFile } from '#app/files/save-file.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';

/** The files of a project, by path. */
export class ProjectFiles {
  readonly #workspace: string;
  /** Null before the first answer. */
  list = $state.raw<readonly FileEntry[] | null>(null);
  problem = $state.raw<Problem | null>(null);

  constructor(workspace: string) {
    this.#workspace = workspace;
  }

  async load(): Promise<void> {
    try {
      const { files } = await gateway.call('workspace.list', { workspace: this.#workspace });
      // The memory has a tab of its own.
      this.list = files.filter(({ path }) => path !== 'MEMORY.md');
      this.problem = null;
    } catch (error) {
      if (!isConnectionLost(error)) this.problem = toProblem(error, m.projects_doing_list_files());
    }
  }

  /** Adds files, with a number if there is one of the same name. Rejects with the first failure, like the other methods. */
  async add(files: readonly File[]): Promise<void> {
    const names = new Set(this.list?.map(({ path }) => path));
    try {
      for (const file of files) {
        const path = findFreeName(file.name, names);
        names.add(path);
        const content = (await readDataUrl(file)).replace(/^[^,]*,/, '');
        await gateway.call('workspace.write', { workspace: this.#workspace, path, content, encoding: 'base64' });
      }
    } finally {
      await this.load();
    }
  }

  async save({ path }: FileEntry): Promise<void> {
    const { content, encoding, file } = await gateway.call('workspace.read', { workspace: this.#workspace, path });
    const part = encoding === 'utf8' ? content : Uint8Array.from(atob(content), (char) => char.charCodeAt(0));
    saveFile(path.split('/').at(-1) ?? path, new Blob([part], { type: file.mimeType }));
  }

  async remove({ path }: FileEntry): Promise<void> {
    await gateway.call('workspace.remove', { workspace: this.#workspace, path });
    await this.load();
  }
}

function findFreeName(name: string, taken: ReadonlySet<string>): string {
  const dot = name.lastIndexOf('.');
  const [base, ending] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
  let free = name;
  for (let number = 2; taken.has(free); number++) free = `${base} (${number})${ending}`;
  return free;
}

function readDataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
