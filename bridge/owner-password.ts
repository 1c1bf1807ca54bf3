import { randomBytes, scrypt, type ScryptOptions, timingSafeEqual } from 'node:crypto';
import { unwatchFile, watchFile } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { z } from '#shared/rpc/zod.ts';
import { toCommandLine } from './command-line.ts';
import { warnIfExposed, readFileIfExists, describeError, writeFileAtomically } from './home-directory.ts';

/** Length in characters. Guessing is limited to ten tries in six minutes, and a reader of the file can read the token next to it too. */
export const PASSWORD_CHARS = { min: 8, max: 1000 } as const;

/** scrypt parameters: 32 MiB and about a third of a second per try. */
const SCRYPT_PARAMS = { N: 2 ** 15, r: 8, p: 3 } as const;
const HASH_BYTES = 32;

const bytesSchema = z.string().regex(/^[A-Za-z0-9_-]{22,100}$/);
const passwordFileSchema = z.object({
  version: z.literal(1),
  salt: bytesSchema,
  hash: bytesSchema,
  N: z
    .number()
    .int()
    .min(2 ** 14)
    .max(2 ** 20)
    .refine((N) => Number.isInteger(Math.log2(N))),
  r: z.number().int().min(1).max(32),
  p: z.number().int().min(1).max(16),
});
type StoredPassword = z.infer<typeof passwordFileSchema>;

/**
 * Registers `close`, which is called when the password is changed or removed, immediately if it already has been. The result unregisters
 * it.
 */
type CloseRegistration = (close: () => void) => () => void;

/**
 * The owner's password, a second way to sign in; off by default. Only its scrypt hash is stored, in a file of mode 0600 that every check
 * reads, so changes by `perch token` apply to a running gateway at once.
 */
export class OwnerPassword {
  readonly #file: string;
  readonly #warn: (line: string) => void;
  readonly #checkMs: number;
  /** Open connections that signed in with the password, with its salt at that time. Every password has its own salt. */
  readonly #open = new Map<() => void, string>();

  /** `checkMs`: interval at which the file is checked while such connections are open, in milliseconds. */
  constructor(file: string, { warn = () => {}, checkMs = 2_000 }: { warn?: (line: string) => void; checkMs?: number } = {}) {
    this.#file = file;
    this.#warn = warn;
    this.#checkMs = checkMs;
  }

  /**
   * Stores the password's hash in place of the previous one. Unicode-normalized, so the same letters match however a keyboard composes
   * them.
   */
  async set(password: string): Promise<void> {
    const salt = randomBytes(16).toString('base64url');
    const hash = await deriveHash(password, { salt, ...SCRYPT_PARAMS }, HASH_BYTES);
    const stored: StoredPassword = { version: 1, ...SCRYPT_PARAMS, salt, hash: hash.toString('base64url') };
    await writeFileAtomically(this.#file, `${JSON.stringify(stored)}\n`, rename);
  }

  async clear(): Promise<void> {
    await rm(this.#file, { force: true });
  }

  async isSet(): Promise<boolean> {
    return (await this.#read()) !== undefined;
  }

  /** Returns undefined if the password is wrong or none is set. */
  async check(password: string): Promise<CloseRegistration | undefined> {
    const stored = await this.#read();
    if (!stored || password.length > PASSWORD_CHARS.max) return undefined;
    const hash = Buffer.from(stored.hash, 'base64url');
    const derived = await deriveHash(password, stored, hash.byteLength);
    return timingSafeEqual(derived, hash) ? (close) => this.#watchConnection(close, stored.salt) : undefined;
  }

  /** Returns undefined for a damaged file, which rejects every password. */
  async #read(): Promise<StoredPassword | undefined> {
    try {
      const text = await readFileIfExists(this.#file);
      if (text === undefined) return undefined;
      await warnIfExposed(this.#file, 0o600, this.#warn);
      return passwordFileSchema.parse(JSON.parse(text));
    } catch (error) {
      const reason = error instanceof z.ZodError || error instanceof SyntaxError ? `${this.#file} is damaged` : describeError(error);
      this.#warn(`${reason}. Passwords are rejected until you set a new one with \`${toCommandLine('token --set-password')}\`.`);
      return undefined;
    }
  }

  #watchConnection(close: () => void, salt: string): () => void {
    const ended = (): void => close();
    if (this.#open.size === 0) watchFile(this.#file, { persistent: false, interval: this.#checkMs }, this.#changed);
    this.#open.set(ended, salt);
    // The password may have changed since it was checked.
    this.#changed();
    return () => this.#forgetConnection(ended);
  }

  #changed = (): void => {
    void this.#read().then((stored) => {
      for (const [close, salt] of [...this.#open]) {
        if (salt === stored?.salt) continue;
        this.#forgetConnection(close);
        close();
      }
    });
  };

  #forgetConnection(close: () => void): void {
    this.#open.delete(close);
    if (this.#open.size === 0) unwatchFile(this.#file, this.#changed);
  }
}

function deriveHash(password: string, { salt, N, r, p }: Pick<StoredPassword, 'salt' | 'N' | 'r' | 'p'>, length: number): Promise<Buffer> {
  const options: ScryptOptions = { N, r, p, maxmem: 256 * N * r };
  return new Promise((done, fail) =>
    scrypt(password.normalize('NFKC'), Buffer.from(salt, 'base64url'), length, options, (error, key) => (error ? fail(error) : done(key))),
  );
}
