import { randomBytes } from 'node:crypto';
import { chmod, type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { getErrorCode, linkOrRename } from '../home-directory.ts';

/** A file with that name exists. */
export class FileExistsError extends Error {
  override name = 'FileExistsError';
}

/**
 * Writes a file of mode 0600 atomically: `write` fills a temporary file, which is synced and then moved into place. It is deleted if
 * `write` throws. Rejects with `FileExistsError` if the file exists and `replace` is not set.
 */
export async function writeNewFile<T>(
  path: string,
  { replace }: { replace: boolean },
  write: (file: FileHandle) => Promise<T>,
): Promise<T> {
  const createExistsError = (cause?: unknown): FileExistsError => new FileExistsError(`${path} already exists`, { cause });
  if (!replace && (await fileExists(path))) throw createExistsError();
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const file = await open(temporary, 'wx', 0o600);
    let written: T;
    try {
      written = await write(file);
      await file.sync();
    } finally {
      await file.close();
    }
    // The process's umask can only remove permissions; restore the owner's.
    if (process.platform !== 'win32') await chmod(temporary, 0o600);
    if (replace) await rename(temporary, path);
    else
      await linkOrRename(temporary, path).catch((error: unknown) => {
        throw getErrorCode(error) === 'EEXIST' ? createExistsError(error) : error;
      });
    return written;
  } finally {
    await rm(temporary, { force: true });
  }
}

const fileExists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
