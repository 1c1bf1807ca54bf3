import { closeSync, openSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Launcher, ProgramFile, ScriptFile } from './expand-command.ts';
import type { ScriptFeed } from './interpreters.ts';
import { copyScript, type PrivateCopies } from './private-copies.ts';
import { toNodeIdentity, toNodePreload, toPythonArgs, toShellArgs } from './interpreter-shims.ts';

/** First file descriptor for passed files; lower ones are the program's own. */
const FIRST_FD = 3;

/** Checks whether everything could run from immutable bytes, without copying. */
export const createDryLauncher = (platform: NodeJS.Platform): Launcher => ({
  passScript(script, feed, operandText) {
    assertFeedable(script, feed, platform);
    if (feed === 'shell') toShellArgs(script.bytes, '', operandText);
    return Promise.resolve({ words: [operandText] });
  },
  resolveProgram(program) {
    assertSealed(program, platform);
    return Promise.resolve({ path: program.path });
  },
});

/** Replaces scripts and programs with private copies in `folder`, which is deleted on disposal. */
export class CopyLauncher implements Launcher, AsyncDisposable {
  /** To be passed to the program as descriptors 3 and up. */
  readonly fds: number[] = [];
  readonly #copies: PrivateCopies;
  readonly #folder: string;
  #count = 0;

  constructor(copies: PrivateCopies, folder: string) {
    this.#copies = copies;
    this.#folder = folder;
  }

  async passScript(script: ScriptFile, feed: ScriptFeed, operandText: string): Promise<{ words: string[]; before?: string[] }> {
    assertFeedable(script, feed, process.platform);
    const copy = await copyScript(this.#folder, `script-${this.#count++}`, script.bytes);
    switch (feed) {
      case 'shell':
        return { words: toShellArgs(script.bytes, copy, operandText) };
      case 'python':
        return { words: toPythonArgs(copy, operandText) };
      case 'node': {
        const preload = Buffer.from(toNodePreload(copy, script.path));
        return { words: [operandText], before: ['--require', await copyScript(this.#folder, `preload-${this.#count}.cjs`, preload)] };
      }
      case 'perl':
        // Perl uses the rest of such a path as the script's name.
        return { words: [`/dev/fd/${FIRST_FD + this.fds.push(openSync(copy, 'r')) - 1}/${operandText}`] };
      case 'file':
        return { words: [copy] };
      case 'none':
        throw new Error('unreachable');
    }
  }

  async resolveProgram(program: ProgramFile, feed: ScriptFeed | undefined): Promise<{ path: string; before?: string[] }> {
    if (program.isSealed) return { path: program.path };
    assertSealed(program, process.platform);
    const path = await this.#copies.copyProgram(this.#folder, program.path, await this.#copies.getHash(program.path));
    if (feed !== 'node') return { path };
    const identity = await copyScript(this.#folder, `identity-${this.#count++}.cjs`, Buffer.from(toNodeIdentity(program.path)));
    return { path, before: ['--require', identity] };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.closeFds();
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Closes this process's descriptors once the program has its own. */
  closeFds(): void {
    for (const fd of this.fds.splice(0)) closeSync(fd);
  }
}

function assertFeedable({ path, bytes }: ScriptFile, feed: ScriptFeed, platform: NodeJS.Platform): void {
  if (feed === 'none') throw new Error(`its interpreter opens ${path} itself, and the file could change before that`);
  if (feed === 'python' && bytes.includes(0)) throw new Error(`${path} is no source code, and Python would open it itself`);
  if (feed === 'perl' && platform === 'win32')
    throw new Error(`Perl on Windows opens ${path} itself, and the file could change before that`);
}

function assertSealed({ path, isSealed }: ProgramFile, platform: NodeJS.Platform): void {
  if (!isSealed && platform === 'win32')
    throw new Error(`${path} is not in a folder of the system, and Windows could start a changed file. Install it in Program Files`);
}
