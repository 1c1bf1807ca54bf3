import { randomBytes } from 'node:crypto';
import { chmod, type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { codeOf, linkOrRename } from '../home.ts';

/** There is a file of that name already. */
export class FileTaken extends Error {
  override name = 'FileTaken';
}

/**
 * Writes a file of mode 0600 beside its place, syncs it, and puts it there in one step once `write` is done; nothing is left where that throws. Rejects with
 * `FileTaken` where the name is taken and `replace` is not set.
 */
export async function writeNewFile<T>(
  path: string,
  { replace }: { replace: boolean },
  write: (file: FileHandle) => Promise<T>,
): Promise<T> {
  const taken = (cause?: unknown): FileTaken => new FileTaken(`${path} already exists`, { cause });
  if (!replace && (await isThere(path))) throw taken();
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
    // The process's umask can only take rights away; this gives back the owner's own.
    if (process.platform !== 'win32') await chmod(temporary, 0o600);
    if (replace) await rename(temporary, path);
    else
      await linkOrRename(temporary, path).catch((error: unknown) => {
        throw codeOf(error) === 'EEXIST' ? taken(error) : error;
      });
    return written;
  } finally {
    await rm(temporary, { force: true });
  }
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
