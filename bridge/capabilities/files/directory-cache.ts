import type { Disk } from './disk.ts';

/** Caches folder listings during one call, which reports its own changes. */
export class DirectoryCache {
  readonly #disk: Pick<Disk, 'readdir'>;
  /** By folder: names on disk, by the vault's name. */
  readonly #folders = new Map<string, Map<string, string[]>>();

  constructor(disk: Pick<Disk, 'readdir'>) {
    this.#disk = disk;
  }

  /** Returns the name on disk for a vault's name; undefined if there is none in any Unicode form. */
  async findName(folder: string, name: string): Promise<string | undefined> {
    let names = this.#folders.get(folder);
    if (!names) {
      const entries = (await this.#disk.readdir(folder)).map((entry) => entry.name);
      names = Map.groupBy(entries, (each) => each.normalize('NFC'));
      this.#folders.set(folder, names);
    }
    const found = names.get(name);
    return found?.find((each) => each === name) ?? found?.[0];
  }

  onAdded(folder: string, name: string): void {
    this.#folders.get(folder)?.set(name, [name]);
  }

  /** After a removal, its folders may be gone too. */
  onRemoved(): void {
    this.#folders.clear();
  }
}
