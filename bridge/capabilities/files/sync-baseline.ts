import type { FileBaseline } from '#shared/ports/files-port.ts';
import { z } from '#shared/rpc/zod.ts';
import { readFileIfExists, writeFileAtomically } from '../../home-directory.ts';
import type { Disk } from './disk.ts';

/** Path, hash, bytes, and time of the vault's record. */
const baselineSchema = z.object({ version: z.literal(1), files: z.array(z.tuple([z.string(), z.string(), z.number(), z.number()])) });

export interface BaselineEntry {
  path: string;
  /** Null: neither side has the file any more. */
  agreed: FileBaseline | null;
}

/** The last state that a folder and the vault agreed on, stored in a file next to the folder. */
export class SyncBaseline {
  readonly #disk: Pick<Disk, 'rename'>;
  readonly #path: string;
  #files: ReadonlyMap<string, FileBaseline> | undefined;

  constructor(disk: Pick<Disk, 'rename'>, path: string) {
    this.#disk = disk;
    this.#path = path;
  }

  /** A damaged file counts as empty: files that differ become conflicts, and files of one side are copied to the other. */
  async read(): Promise<ReadonlyMap<string, FileBaseline>> {
    return (this.#files ??= parseBaseline(await readFileIfExists(this.#path)));
  }

  /** Atomic and durable: if it rejects, the previous state is unchanged. */
  async update(entries: readonly BaselineEntry[]): Promise<void> {
    if (entries.length === 0) return;
    const files = new Map(await this.read());
    for (const { path, agreed } of entries) {
      if (agreed) files.set(path, agreed);
      else files.delete(path);
    }
    const rows = [...files].map(([path, { hash, size, modifiedAt }]) => [path, hash, size, modifiedAt]);
    await writeFileAtomically(this.#path, JSON.stringify({ version: 1, files: rows }), (from, to) => this.#disk.rename(from, to));
    this.#files = files;
  }
}

function parseBaseline(text: string | undefined): Map<string, FileBaseline> {
  try {
    const { files } = baselineSchema.parse(JSON.parse(text ?? '{"version":1,"files":[]}'));
    return new Map(files.map(([path, hash, size, modifiedAt]) => [path, { hash, size, modifiedAt }]));
  } catch {
    return new Map();
  }
}
