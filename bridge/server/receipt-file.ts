import { open, rename, rm } from 'node:fs/promises';
import { type Receipt, receipt } from '#shared/link/splice.ts';
import { readIfThere, reasonOf, writeWhole } from '../home.ts';

/** Receipts that no host has stored yet, a line of JSON each, for the bridge that is started next. There only while there are any. */
export class ReceiptFile {
  readonly #path: string;
  readonly #warn: (line: string) => void;
  #work: Promise<unknown> = Promise.resolve();
  #lines = 0;
  #failed = false;

  constructor(path: string, warn: (line: string) => void) {
    this.#path = path;
    this.#warn = warn;
  }

  /** Lines that the file has, once all is done. */
  get lines(): number {
    return this.#lines;
  }

  /** What an earlier bridge has left. A last line that a crash has cut is passed over. */
  async read(): Promise<Receipt[]> {
    const lines = ((await readIfThere(this.#path)) ?? '').split('\n').filter((line) => line !== '');
    this.#lines = lines.length;
    return lines.flatMap((line) => {
      const parsed = receipt.safeParse(parseJson(line));
      return parsed.success ? [parsed.data] : [];
    });
  }

  /** Adds to it, durably. False where that failed. */
  append(given: readonly Receipt[]): Promise<boolean> {
    this.#lines += given.length;
    return this.#do(async () => {
      const file = await open(this.#path, 'a', 0o600);
      try {
        await file.writeFile(textOf(given));
        await file.datasync();
      } finally {
        await file.close();
      }
    });
  }

  /** Has only these in it from now on. */
  replace(given: readonly Receipt[]): Promise<boolean> {
    this.#lines = given.length;
    return this.#do(() => (given.length === 0 ? rm(this.#path, { force: true }) : writeWhole(this.#path, textOf(given), rename)));
  }

  /** Resolves when nothing is being written. */
  async idle(): Promise<void> {
    await this.#work;
  }

  /** One after the other. Never rejects: the receipts are in memory all the same. */
  #do(write: () => Promise<void>): Promise<boolean> {
    const done = this.#work.then(write).then(
      () => {
        this.#failed = false;
        return true;
      },
      (error: unknown) => {
        if (!this.#failed) this.#warn(`Couldn’t write usage records to ${this.#path}. They are only kept in memory: ${reasonOf(error)}`);
        this.#failed = true;
        return false;
      },
    );
    this.#work = done;
    return done;
  }
}

// A line that a crash has cut must not take the next one with it.
const textOf = (given: readonly Receipt[]): string => given.map((each) => `\n${JSON.stringify(each)}`).join('') + '\n';

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
