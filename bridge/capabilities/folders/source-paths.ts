import { realpath, stat } from 'node:fs/promises';
import { basename, isAbsolute, join, resolve, sep } from 'node:path';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { describeError, getErrorCode } from '../../home-directory.ts';

/** Folders of systems with devices, processes and sockets instead of files. */
const SYSTEM_FOLDERS = ['/proc', '/sys', '/dev'];
/** Folders of packages that programs installed, which nobody wants to search. */
const SKIPPED_FOLDERS = new Set(['node_modules', '__pycache__', 'bower_components', '$RECYCLE.BIN', 'System Volume Information']);

/** Whether `path` is `folder` or below it. Both absolute. */
export const isBelow = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);

/** Whether files with this name are never read, nor those in a folder with it. */
export const isHiddenName = (name: string): boolean => name.startsWith('.') || SKIPPED_FOLDERS.has(name);

/** Whether a folder or its files can be a source. Throws `INVALID_PARAMS` with the reason if not. `home`: the bridge's, with links resolved. */
export function assertReadableRoot(root: string, home: string): void {
  const refuse = (reason: string): never => {
    throw new RpcError('INVALID_PARAMS', reason);
  };
  if (resolve(root, '..') === root) refuse('The whole disk can’t be added. Choose a folder on it.');
  if (SYSTEM_FOLDERS.some((folder) => isBelow(root, folder))) refuse(`${root} belongs to the system and has no documents.`);
  if (isBelow(root, home)) refuse(`${root} holds Perch’s own data, with keys and passwords. Choose another folder.`);
}

/** An absolute path with links resolved. Throws `NOT_FOUND` if it does not exist. */
export async function resolveRoot(path: string): Promise<string> {
  if (!isAbsolute(path)) throw new RpcError('INVALID_PARAMS', `Enter a full path, not ${path}.`);
  return realpath(resolve(path)).catch((error: unknown) => {
    throw toDiskError(path, error);
  });
}

/**
 * The path on disk of a file below a root, with links resolved. Throws `INVALID_PARAMS` for paths that leave the root and for hidden files,
 * and `NOT_FOUND`. `isMail`: whether the path may have hidden folders, as those of a maildir.
 */
export async function resolveSourcePath(root: string, path: string): Promise<string> {
  const parts = path.split('/');
  if (parts.some((part) => part === '' || part === '.' || part === '..' || part.includes('\0') || (sep === '\\' && part.includes('\\'))))
    throw new RpcError('INVALID_PARAMS', `${path} is not a path below the folder.`);
  const isMessage = /^(cur|new)$/.test(parts.at(-2) ?? '');
  const hidden = isMessage ? parts.slice(0, -2).find((part) => isHiddenName(part) && !isMaildirName(part)) : parts.find(isHiddenName);
  if (hidden !== undefined) throw new RpcError('INVALID_PARAMS', `${path} is hidden, and hidden files are not read.`);
  try {
    const isFolder = (await stat(root)).isDirectory();
    if (!isFolder && path !== basename(root)) throw new RpcError('NOT_FOUND', `${path} doesn’t exist.`);
    const real = await realpath(isFolder ? join(root, ...parts) : root);
    if (!isBelow(real, root)) throw new RpcError('INVALID_PARAMS', `${path} is a link that leaves the folder.`);
    return real;
  } catch (error) {
    throw error instanceof RpcError ? error : toDiskError(path, error);
  }
}

/** Whether a folder with this name can be one of a maildir, such as `.Sent`, whose names start with a dot. */
export const isMaildirName = (name: string): boolean => /^\.[^.]/.test(name) && !/^\.(git|ssh|gnupg|config|cache|local|aws)$/i.test(name);

/** Converts a disk error to one with a message for people. */
export function toDiskError(path: string, error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  const code = getErrorCode(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') return new RpcError('NOT_FOUND', `${path} doesn’t exist.`);
  if (code === 'EACCES' || code === 'EPERM') return new RpcError('INVALID_PARAMS', `${path} can’t be read: this user has no permission.`);
  if (code === 'ELOOP') return new RpcError('INVALID_PARAMS', `${path} is a link that leads in circles.`);
  if (code === 'ENAMETOOLONG') return new RpcError('INVALID_PARAMS', 'The path is too long.');
  return new RpcError('INTERNAL_ERROR', `${path} can’t be read: ${describeError(error)}`, {}, { cause: error });
}
