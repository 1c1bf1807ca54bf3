import type { Disk } from './disk.ts';

/** The names of folders, each read once: for one call, which itself tells what it adds and takes away. */
export class Listing {
  readonly #disk: Pick<Disk, 'readdir'>;
  /** By folder, the names on disk by how the vault has them. */
  readonly #folders = new Map<string, Map<string, string[]>>();

  constructor(disk: Pick<Disk, 'readdir'>) {
    this.#disk = disk;
  }

  /** The name on disk of what the vault calls so; undefined: there is nothing of that name, in whichever Unicode form. */
  async nameOf(folder: string, name: string): Promise<string | undefined> {
    let names = this.#folders.get(folder);
    if (!names) {
      const entries = (await this.#disk.readdir(folder)).map((entry) => entry.name);
      names = Map.groupBy(entries, (each) => each.normalize('NFC'));
      this.#folders.set(folder, names);
    }
    const found = names.get(name);
    return found?.find((each) => each === name) ?? found?.[0];
  }

  added(folder: string, name: string): void {
    this.#folders.get(folder)?.set(name, [name]);
  }

  /** Something was taken away: its folders may be gone. */
  removed(): void {
    this.#folders.clear();
  }
}
