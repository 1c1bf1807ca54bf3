import { createHash } from 'node:crypto';
import { createReadStream, constants } from 'node:fs';
import { access, mkdir, realpath, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { RpcError } from '#shared/rpc/errors.ts';

/** A command as it was asked for. */
export interface Asked {
  command: string;
  args: readonly string[];
  workingDir?: string | undefined;
}

/** A command as it would run. */
export interface Resolved {
  realPath: string;
  workingDir: string;
  hash: string;
}

export interface Surroundings {
  /** The folder where commands run that name none; made where it is not there. */
  workspace: string;
  env: Readonly<Record<string, string>>;
}

/**
 * Finds a command's program and directory, and the hash that an approval binds to. Throws `INVALID_PARAMS`, naming the param, where there is no such
 * program or directory.
 */
export async function resolveCommand({ command, args, workingDir }: Asked, surroundings: Surroundings): Promise<Resolved> {
  const { env } = surroundings;
  const { realPath, workingDir: dir } = await findCommand({ command, workingDir }, surroundings);
  const what = { version: 1, command, realPath, content: await contentHash(realPath), args, workingDir: dir, env: Object.entries(env) };
  return { realPath, workingDir: dir, hash: createHash('sha256').update(JSON.stringify(what)).digest('hex') };
}

/** Finds a command's program and directory alone, and throws as `resolveCommand` does. */
export async function findCommand(
  { command, workingDir }: Omit<Asked, 'args'>,
  { workspace, env }: Surroundings,
): Promise<Omit<Resolved, 'hash'>> {
  const dir = await realDirectory(workingDir, workspace);
  return { realPath: await findProgram(command, dir, env), workingDir: dir };
}

async function realDirectory(given: string | undefined, workspace: string): Promise<string> {
  if (given === undefined) await mkdir(workspace, { recursive: true, mode: 0o700 });
  const asked = given ?? workspace;
  if (!isAbsolute(asked)) throw invalid('workingDir', 'must be an absolute path');
  try {
    const dir = await realpath(asked);
    if ((await stat(dir)).isDirectory()) return dir;
  } catch (error) {
    throw invalid('workingDir', `no folder ${asked}`, error);
  }
  throw invalid('workingDir', `${asked} is not a folder`);
}

/** By its path, or by its name on the `PATH`, of which relative entries do not count. */
async function findProgram(command: string, dir: string, env: Readonly<Record<string, string>>): Promise<string> {
  const windows = process.platform === 'win32';
  const byPath = windows ? /[\\/]/.test(command) : command.includes('/');
  const folders = byPath ? [] : (env['PATH'] ?? '').split(delimiter).filter(isAbsolute);
  const endings = windows ? ['', ...(env['PATHEXT'] ?? '.EXE').split(';')] : [''];
  const candidates = byPath ? [resolve(dir, command)] : folders.map((folder) => join(folder, command));
  let refused: string | undefined;
  for (const candidate of candidates.flatMap((path) => endings.map((ending) => path + ending))) {
    const found = await programAt(candidate);
    if (found === undefined) continue;
    if (found === null) refused ??= candidate;
    // The system runs such a file by its own shell, which reads arguments in its own way.
    else if (windows && /\.(bat|cmd)$/i.test(found)) throw invalid('command', `${found} is a batch file, which can only run in a shell`);
    else return found;
  }
  if (refused !== undefined) throw invalid('command', `${refused} is not executable`);
  throw invalid('command', byPath ? `no file ${command}` : `no program ${command} on the bridge’s PATH`);
}

/** Its real path; null where it cannot be run, undefined where there is none. */
async function programAt(path: string): Promise<string | null | undefined> {
  try {
    const real = await realpath(path);
    if (!(await stat(real)).isFile()) return null;
    return await access(real, constants.X_OK).then(
      () => real,
      () => null,
    );
  } catch {
    return undefined;
  }
}

async function contentHash(path: string): Promise<string> {
  const hash = createHash('sha256');
  try {
    await pipeline(createReadStream(path), hash);
  } catch (error) {
    // A program may be runnable and not readable; then its path must do.
    if (error instanceof Error && 'code' in error && error.code === 'EACCES') return 'unreadable';
    throw invalid('command', `${path} can’t be read`, error);
  }
  return hash.digest('hex');
}

const invalid = (param: string, what: string, cause?: unknown): RpcError =>
  new RpcError('INVALID_PARAMS', `${param}: ${what}`, {}, cause === undefined ? {} : { cause });
