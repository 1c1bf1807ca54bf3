import { constants } from 'node:fs';
import { open, realpath, stat } from 'node:fs/promises';
import { MAX_FOLDER_READ_BYTES } from '#shared/ports/folders-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { isBelow, resolveSourcePath, toDiskError } from './source-paths.ts';

interface SourceFile {
  bytes: Buffer;
  /** Size of the whole file. */
  size: number;
  modifiedAt: number;
  truncated: boolean;
}

interface ReadQuery {
  offset: number;
  maxBytes: number;
  /** The bridge's home, which is left out. */
  ownFolder: string;
}

/** Reads a part of a regular file below a root. Opens nothing else: a FIFO would wait for its writer, a device may never end. */
export async function readSourceFile(root: string, path: string, { offset, maxBytes, ownFolder }: ReadQuery): Promise<SourceFile> {
  const real = await resolveSourcePath(root, path);
  if (isBelow(real, ownFolder) && !isBelow(root, ownFolder))
    throw new RpcError('INVALID_PARAMS', `${path} is Perch’s own and is not read.`);
  const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);
  try {
    const file = await open(real, flags);
    try {
      const opened = await file.stat();
      if (!opened.isFile()) throw new RpcError('INVALID_PARAMS', `${path} is not a regular file.`);
      // A folder on the way may have been replaced by a link since the path was resolved.
      const current = await stat(real);
      if ((await realpath(real)) !== real || current.ino !== opened.ino || current.dev !== opened.dev)
        throw new RpcError('NOT_FOUND', `${path} was replaced while it was read.`);
      const bytes = Buffer.alloc(Math.max(0, Math.min(maxBytes, MAX_FOLDER_READ_BYTES, opened.size - offset)));
      let length = 0;
      while (length < bytes.length) {
        const { bytesRead } = await file.read(bytes, length, bytes.length - length, offset + length);
        if (bytesRead === 0) break;
        length += bytesRead;
      }
      return {
        bytes: bytes.subarray(0, length),
        size: opened.size,
        modifiedAt: Math.round(opened.mtimeMs),
        truncated: offset + length < opened.size,
      };
    } finally {
      await file.close();
    }
  } catch (error) {
    throw toDiskError(path, error);
  }
}
