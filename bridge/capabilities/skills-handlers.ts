import { constants } from 'node:fs';
import { access, open, readdir, realpath } from 'node:fs/promises';
import { delimiter, join, sep } from 'node:path';
import { SKILL_LIMITS, type skillsPort } from '#shared/ports/skills-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { getErrorCode } from '../home-directory.ts';
import type { PortHandlers } from './serve-port.ts';

/** Limits: entries read per folder, depth below a skill's folder, and folders per skill. */
const MAX_ENTRIES = 2000;
const MAX_DEPTH = 4;
export const MAX_FOLDERS = 500;
const PROGRAM_NAME = /^[A-Za-z0-9_][A-Za-z0-9._+-]*$/;
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

interface SkillsOptions {
  /** Folder with one subfolder per skill. It need not exist. */
  dir: string;
  env?: NodeJS.ProcessEnv;
  platform?: NodeJS.Platform;
}

/**
 * Handlers that read the skills of a folder as text. The contents are untrusted: links that lead out of a skill's folder, FIFOs, and files
 * that are huge or not text are reported and never read.
 */
export function createSkillsHandlers({
  dir,
  env = process.env,
  platform = process.platform,
}: SkillsOptions): PortHandlers<(typeof skillsPort)['calls'], (typeof skillsPort)['events']> {
  const inside = async (folder: string): Promise<string> => {
    const [root, real] = await Promise.all([realpath(dir), realpath(join(dir, folder))]);
    if (!isInside(real, root)) throw new RpcError('INVALID_PARAMS', 'The folder links outside the skills folder');
    return real;
  };
  const skill = async (
    folder: string,
  ): Promise<{ folder: string; path: string; text: string | null; problem?: string; files: string[] }> => {
    const path = join(dir, folder);
    try {
      const real = await inside(folder);
      const [{ text, truncated }, files] = await Promise.all([readTextFile(real, 'SKILL.md'), listSkillFiles(real)]);
      if (!truncated) return { folder, path, text, files };
      return { folder, path, text: null, problem: `SKILL.md is larger than ${SKILL_LIMITS.chars / 1024} KiB`, files };
    } catch (error) {
      return { folder, path, text: null, problem: describeError(error), files: [] };
    }
  };
  return {
    async list() {
      const entries = await readdir(dir, { withFileTypes: true }).catch((error: unknown) => {
        if (getErrorCode(error) === 'ENOENT' || getErrorCode(error) === 'ENOTDIR') return [];
        throw error;
      });
      const folders = entries
        .filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith('.'))
        .slice(0, MAX_ENTRIES)
        .map(({ name }) => name)
        .sort()
        .slice(0, SKILL_LIMITS.skills);
      return { skills: await Promise.all(folders.map(skill)) };
    },

    async read({ folder, file }) {
      if ([folder, ...file.split('/')].some((name) => name === '' || name === '.' || name === '..' || /[/\\\0]/.test(name)))
        throw new RpcError('NOT_FOUND', `No file ${file} in the skill ${folder}`);
      try {
        return await readTextFile(await inside(folder), file);
      } catch (error) {
        if (error instanceof RpcError) throw error;
        throw new RpcError('NOT_FOUND', `No file ${file} in the skill ${folder}`, {}, { cause: error });
      }
    },

    async missing({ programs, variables }) {
      const isOnPath = await Promise.all(programs.map((name) => isProgramOnPath(name, env)));
      return {
        programs: programs.filter((_, at) => !isOnPath[at]),
        variables: variables.filter((name) => !VARIABLE_NAME.test(name) || !Object.hasOwn(env, name) || !env[name]),
        platform,
      };
    },
  };
}

const isInside = (path: string, root: string): boolean => path.startsWith(root.endsWith(sep) ? root : root + sep);

/** Lists a skill's other files, without links. */
async function listSkillFiles(root: string): Promise<string[]> {
  const found: string[] = [];
  let folders = 0;
  const walk = async (below: string, depth: number): Promise<void> => {
    if (++folders > MAX_FOLDERS) return;
    const entries = await readdir(join(root, below), { withFileTypes: true }).catch(() => []);
    for (const entry of entries.slice(0, MAX_ENTRIES).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (found.length >= SKILL_LIMITS.files) return;
      const name = below === '' ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory() && depth < MAX_DEPTH && !entry.name.startsWith('.')) await walk(name, depth + 1);
      else if (entry.isFile() && name !== 'SKILL.md') found.push(name);
    }
  };
  await walk('', 1);
  return found;
}

/** Reads a file up to the size limit. Throws if it is not in the folder, not a regular file, or not text. */
async function readTextFile(root: string, file: string): Promise<{ text: string; truncated: boolean }> {
  const path = await realpath(join(root, file));
  if (!isInside(path, root)) throw new RpcError('INVALID_PARAMS', `${file} links outside the skill’s folder`);
  // Non-blocking, since opening a FIFO without a writer would hang.
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const { size } = await handle.stat().then((stat) => {
      if (!stat.isFile()) throw new RpcError('INVALID_PARAMS', `${file} is not a regular file`);
      return stat;
    });
    const bytes = Buffer.alloc(Math.min(size, SKILL_LIMITS.chars));
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
    const truncated = size > bytesRead;
    const read = bytes.subarray(0, bytesRead);
    if (read.includes(0)) throw new RpcError('INVALID_PARAMS', `${file} is not a text file`);
    try {
      // A truncated text may end within a character.
      return { text: new TextDecoder('utf-8', { fatal: true }).decode(read, { stream: truncated }), truncated };
    } catch {
      throw new RpcError('INVALID_PARAMS', `${file} is not a text file`);
    }
  } finally {
    await handle.close();
  }
}

/** Whether the PATH contains a program with that name. */
async function isProgramOnPath(name: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  if (!PROGRAM_NAME.test(name)) return false;
  const windows = process.platform === 'win32';
  const endings = windows ? ['', ...(env.PATHEXT ?? '.EXE;.CMD;.BAT').split(';')] : [''];
  const dirs = (env.PATH ?? env.Path ?? '').split(delimiter).filter(Boolean);
  for (const dir of dirs) {
    for (const ending of endings) {
      const found = await access(join(dir, name + ending), windows ? constants.F_OK : constants.X_OK).then(
        () => true,
        () => false,
      );
      if (found) return true;
    }
  }
  return false;
}

function describeError(error: unknown): string {
  if (error instanceof RpcError) return error.message;
  const code = getErrorCode(error);
  if (code === 'ENOENT') return 'SKILL.md is missing';
  return `Couldn’t read SKILL.md (${typeof code === 'string' ? code : 'unknown'})`;
}
