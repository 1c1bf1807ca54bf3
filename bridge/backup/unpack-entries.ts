import { createHash } from 'node:crypto';
import { configure, type FileEntry, type ZipReader } from '@zip.js/zip.js';
import { InvalidBackupError, type EntryKind, getEntryKind, MAX_ENTRIES, MAX_UNPACKED_BYTES } from './backup-format.ts';

configure({ useWebWorkers: false });

export interface BackupEntry {
  entry: FileEntry;
  kind: EntryKind;
}

/** Returns the zip's entries by name. Throws `InvalidBackupError` for anything that does not belong in a backup. */
export async function readEntries(zip: ZipReader<unknown>): Promise<Map<string, BackupEntry>> {
  const entries = new Map<string, BackupEntry>();
  for await (const entry of zip.getEntriesGenerator()) {
    const kind = getEntryKind(entry.filename);
    if (!kind || entry.directory) throw new InvalidBackupError(`it contains an unexpected file ${toPrintableName(entry.filename)}`);
    if (entry.symlink || entry.encrypted) throw new InvalidBackupError(`${entry.filename} is not a regular file`);
    if (entries.has(entry.filename)) throw new InvalidBackupError(`it contains ${entry.filename} twice`);
    if (entries.size === MAX_ENTRIES) throw new InvalidBackupError(`it has more than ${MAX_ENTRIES} entries`);
    entries.set(entry.filename, { entry, kind });
  }
  return entries;
}

/** Makes an untrusted name safe to print. */
export const toPrintableName = (name: string): string => JSON.stringify(name.slice(0, 100));

/** Message for a backup over the limit. `bySize`: whether the limit follows from the file's size. */
export const describeSizeLimit = (limit: number, bySize: boolean): string =>
  `it unpacks to more than ${Math.round(limit / 1024 / 1024)} MB${bySize && limit < MAX_UNPACKED_BYTES ? ', too much for its size' : ''}`;

/** Unpacks entries up to a total number of bytes, counted during unpacking since headers may be wrong. */
export class Unpacker {
  readonly #limit: number;
  readonly #limitMessage: string;
  #remainingBytes: number;

  /** `limitMessage`: message if the limit is exceeded. */
  constructor(limit: number, limitMessage: string) {
    this.#limit = limit;
    this.#limitMessage = limitMessage;
    this.#remainingBytes = limit;
  }

  /**
   * Passes an entry to `sink` in chunks and returns its SHA-256 in hex. Rejects with `InvalidBackupError` if the limit is exceeded, and with
   * errors thrown by `sink`.
   */
  async unpack(entry: FileEntry, sink: (bytes: Uint8Array) => void): Promise<string> {
    const hash = createHash('sha256');
    let refusal: unknown;
    const counted = new WritableStream<Uint8Array>({
      write: (bytes) => {
        try {
          this.#remainingBytes -= bytes.length;
          if (this.#remainingBytes < 0) throw new InvalidBackupError(this.#limitMessage);
          hash.update(bytes);
          sink(bytes);
        } catch (error) {
          refusal = error;
          throw error;
        }
      },
    });
    await entry.getData(counted).catch((error: unknown) => {
      throw refusal ?? error;
    });
    return hash.digest('hex');
  }

  /** Returns a whole entry of at most `maxBytes` bytes, and its SHA-256. */
  async readEntry(entry: FileEntry, maxBytes = this.#limit): Promise<{ bytes: Buffer<ArrayBuffer>; hash: string }> {
    const parts: Uint8Array[] = [];
    let length = 0;
    const hash = await this.unpack(entry, (bytes) => {
      length += bytes.length;
      if (length > maxBytes) throw new InvalidBackupError(`${entry.filename} is too large`);
      parts.push(bytes);
    });
    return { bytes: Buffer.concat(parts), hash };
  }
}
