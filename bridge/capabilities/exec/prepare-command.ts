import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, realpath, stat } from 'node:fs/promises';
import { delimiter, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { type ExecScript, MAX_SHOWN_SCRIPT_BYTES } from '#shared/ports/exec-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { findDataFiles } from './data-files.ts';
import { type ExpandedCommand, expandCommand, type FoundProgram, type Launcher } from './expand-command.ts';
import type { PrivateCopies } from './private-copies.ts';

/** A command as requested. */
interface CommandRequest {
  command: string;
  args: readonly string[];
  workingDir?: string | undefined;
}

/** A command as it would run. */
interface ResolvedCommand {
  realPath: string;
  workingDir: string;
  /** Hash that an approval covers. */
  hash: string;
  /** Hash that "always" covers: the same without data files. */
  standingHash: string;
  /** An earlier build's hash, for programs that run no other code. */
  earlierHash?: string;
  scripts: ExecScript[];
  files: { path: string; bytes: number; isData: boolean }[];
  isInterpreter: boolean;
  workspaces: string[];
}

interface CommandContext {
  /** Folder for commands without a working directory; created if it is missing. */
  workspace: string;
  /** Folder that contains the workspaces. */
  workspaces: string;
  env: Readonly<Record<string, string>>;
}

/** A command with its files, read once: the bytes hashed are those that `run` executes. */
export interface PreparedCommand {
  resolved: ResolvedCommand;
  /** Hash of its programs' and scripts' bytes and paths. */
  codeHash: string;
  run: Pick<ExpandedCommand, 'file' | 'argv0' | 'args'>;
}

/**
 * Finds a command's program, scripts and directory, and the hashes that approvals cover. Throws `INVALID_PARAMS` with the parameter's name
 * if the program or directory is missing, and an error for the user if the approved bytes can't be guaranteed to be those that run.
 */
export async function prepareCommand(
  { command, args, workingDir }: CommandRequest,
  context: CommandContext,
  launcher: Launcher,
  copies: PrivateCopies,
): Promise<PreparedCommand> {
  const { env } = context;
  const dir = await resolveDirectory(workingDir, context.workspace);
  const find = (name: string): Promise<FoundProgram> => findProgram(name, dir, env);
  const program = await find(command);
  const { realPath } = program;
  const expanded = await expandCommand(command, program, args, { dir, find, launcher }).catch((error: unknown) => {
    if (error instanceof RpcError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw createInvalidError('command', `${command} can’t be run exactly as approved: ${reason}`, error);
  });
  const { programs, scripts } = expanded;
  const hashed = await Promise.all(programs.map(async ({ path, isSealed }) => [path, await hashProgram(path, isSealed, copies)] as const));
  const code = scripts.map(({ path, bytes }) => [path, createHash('sha256').update(bytes).digest('hex')] as const);
  const { files: data, folders } = await findDataFiles(command, realPath, args, dir, expanded);
  const hashInput = { version: 2, command, realPath, programs: hashed, scripts: code, args, workingDir: dir, env: Object.entries(env) };
  const toFileRow = ({ path, fingerprint: fingerprint }: (typeof data)[number]): [string, string] => [path, fingerprint];
  const content = hashed.find(([path]) => path === realPath)?.[1];
  const resolved: ResolvedCommand = {
    realPath,
    workingDir: dir,
    hash: sha256({ ...hashInput, files: data.map(toFileRow) }),
    standingHash: sha256({ ...hashInput, files: data.filter(({ isData }) => !isData).map(toFileRow) }),
    ...(expanded.isInterpreter || content === undefined || data.some(({ isData, isExecutable }) => isExecutable && !isData)
      ? {}
      : { earlierHash: sha256({ version: 1, command, realPath, content, args, workingDir: dir, env: Object.entries(env) }) }),
    scripts: scripts.map(({ path, bytes }) => ({ path, bytes: bytes.length, ...toDisplayText(bytes) })),
    files: data.map(({ path, bytes, isData }) => ({ path, bytes, isData })),
    isInterpreter: expanded.isInterpreter,
    workspaces: await findWorkspaces(context.workspaces, [
      dir,
      ...folders,
      ...[...programs, ...scripts, ...data].map(({ path }) => dirname(path)),
    ]),
  };
  // Nothing had to be replaced: run it as named.
  const isPlain = [...programs, ...scripts].every((each) => each.isSealed);
  return {
    resolved,
    codeHash: sha256({ realPath, programs: hashed, scripts: code }),
    run: isPlain ? { file: realPath, argv0: command, args: [...args] } : expanded,
  };
}

/** Returns the names of the workspaces that contain these folders. */
async function findWorkspaces(root: string, folders: readonly string[]): Promise<string[]> {
  const real = await realpath(root).catch(() => root);
  const found = await Promise.all([...new Set(folders)].map((folder) => realpath(folder).catch(() => folder)));
  return [...new Set(found.map((folder) => relative(real, folder).split(sep)[0] ?? ''))].filter(
    (name) => name !== '' && name !== '..' && !isAbsolute(name),
  );
}

const sha256 = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex');

/** A script's text for display; none if it is too long or not text. */
function toDisplayText(bytes: Buffer): { text?: string } {
  if (bytes.length > MAX_SHOWN_SCRIPT_BYTES || bytes.includes(0)) return {};
  return { text: bytes.toString('utf8') };
}

/** Finds only a command's program and directory. Throws like `prepareCommand`. */
export async function findCommand(
  { command, workingDir }: Omit<CommandRequest, 'args'>,
  { workspace, env }: Pick<CommandContext, 'workspace' | 'env'>,
): Promise<Pick<ResolvedCommand, 'realPath' | 'workingDir'>> {
  const dir = await resolveDirectory(workingDir, workspace);
  return { realPath: (await findProgram(command, dir, env)).realPath, workingDir: dir };
}
async function resolveDirectory(path: string | undefined, workspace: string): Promise<string> {
  if (path === undefined) await mkdir(workspace, { recursive: true, mode: 0o700 });
  const requestedPath = path ?? workspace;
  if (!isAbsolute(requestedPath)) throw createInvalidError('workingDir', 'must be an absolute path');
  try {
    const dir = await realpath(requestedPath);
    if ((await stat(dir)).isDirectory()) return dir;
  } catch (error) {
    throw createInvalidError('workingDir', `no folder ${requestedPath}`, error);
  }
  throw createInvalidError('workingDir', `${requestedPath} is not a folder`);
}

/** Finds a program by path, or by name on the PATH, ignoring relative entries. */
async function findProgram(command: string, dir: string, env: Readonly<Record<string, string>>): Promise<FoundProgram> {
  const windows = process.platform === 'win32';
  const byPath = windows ? /[\\/]/.test(command) : command.includes('/');
  const folders = byPath ? [] : (env['PATH'] ?? '').split(delimiter).filter(isAbsolute);
  const endings = windows ? ['', ...(env['PATHEXT'] ?? '.EXE').split(';')] : [''];
  const candidates = byPath ? [resolve(dir, command)] : folders.map((folder) => join(folder, command));
  let notExecutable: string | undefined;
  for (const candidate of candidates.flatMap((path) => endings.map((ending) => path + ending))) {
    const found = await resolveProgram(candidate);
    if (found === undefined) continue;
    if (found === null) notExecutable ??= candidate;
    // The system runs batch files with its own shell, which parses arguments differently.
    else if (windows && /\.(bat|cmd)$/i.test(found))
      throw createInvalidError('command', `${found} is a batch file, which can only run in a shell`);
    else return { path: candidate, realPath: found };
  }
  if (notExecutable !== undefined) throw createInvalidError('command', `${notExecutable} is not executable`);
  const message = `command: ${byPath ? `no file ${command}` : `no program ${command} on the bridge’s PATH`}`;
  throw new RpcError('INVALID_PARAMS', message, { details: { reason: 'missing', program: command } });
}

/** Returns its real path; null if it is not executable, undefined if it is missing. */
async function resolveProgram(path: string): Promise<string | null | undefined> {
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

async function hashProgram(path: string, isSealed: boolean, copies: PrivateCopies): Promise<string> {
  try {
    return await copies.getHash(path);
  } catch (error) {
    // A system program may be executable but not readable; then its path identifies it.
    if (isSealed && error instanceof Error && 'code' in error && error.code === 'EACCES') return 'unreadable';
    throw createInvalidError('command', `${path} can’t be read`, error);
  }
}

const createInvalidError = (param: string, problem: string, cause?: unknown): RpcError =>
  new RpcError('INVALID_PARAMS', `${param}: ${problem}`, {}, cause === undefined ? {} : { cause });
