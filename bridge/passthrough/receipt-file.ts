import { open, rename, rm } from 'node:fs/promises';
import { type UsageReceipt, usageReceipt } from '#shared/link/splice.ts';
import { readFileIfExists, describeError, writeFileAtomically } from '../home-directory.ts';

/**
 * Stores receipts that no host has taken yet for the next start of the bridge, one JSON value per line. The file exists only while there
 * are any.
 */
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

  /** Number of lines in the file after pending writes. */
  get lines(): number {
    return this.#lines;
  }

  /** Reads the receipts that an earlier bridge left. Skips a last line cut by a crash. */
  async read(): Promise<UsageReceipt[]> {
    const lines = ((await readFileIfExists(this.#path)) ?? '').split('\n').filter((line) => line !== '');
    this.#lines = lines.length;
    return lines.flatMap((line) => {
      const parsed = usageReceipt.safeParse(parseReceipt(line));
      return parsed.success ? [parsed.data] : [];
    });
  }

  /** Appends receipts durably. Resolves to false on failure. */
  append(receipts: readonly UsageReceipt[]): Promise<boolean> {
    this.#lines += receipts.length;
    return this.#enqueueWrite(async () => {
      const file = await open(this.#path, 'a', 0o600);
      try {
        await file.writeFile(serializeReceipts(receipts));
        await file.datasync();
      } finally {
        await file.close();
      }
    });
  }

  /** Replaces the file's contents. */
  replace(receipts: readonly UsageReceipt[]): Promise<boolean> {
    this.#lines = receipts.length;
    return this.#enqueueWrite(() =>
      receipts.length === 0 ? rm(this.#path, { force: true }) : writeFileAtomically(this.#path, serializeReceipts(receipts), rename),
    );
  }

  /** Resolves when no write is pending. */
  async idle(): Promise<void> {
    await this.#work;
  }

  /** Serializes writes. Never rejects: the receipts remain in memory. */
  #enqueueWrite(write: () => Promise<void>): Promise<boolean> {
    const done = this.#work.then(write).then(
      () => {
        this.#failed = false;
        return true;
      },
      (error: unknown) => {
        if (!this.#failed)
          this.#warn(`Couldn’t write usage records to ${this.#path}. They are only kept in memory: ${describeError(error)}`);
        this.#failed = true;
        return false;
      },
    );
    this.#work = done;
    return done;
  }
}

// Starts with a line break, so that a line cut by a crash does not damage the next one.
const serializeReceipts = (receipts: readonly UsageReceipt[]): string =>
  receipts.map((receipt) => `\n${JSON.stringify(receipt)}`).join('') + '\n';

function parseReceipt(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
