import { randomBytes } from 'node:crypto';
import { chmod, link, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from '#shared/rpc/zod.ts';

const storedCredentialSchema = z.object({
  id: z.string().min(1).max(100),
  secret: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
  kind: z.enum(['app', 'host']),
  /** Milliseconds since the Unix epoch. */
  createdAt: z.number(),
  /** Name that the browser reported. Missing in credentials of older builds. */
  name: z.string().optional(),
});
/** A secret shared with one browser profile: for its pages (`app`) or its worker (`host`). */
export type StoredCredential = z.infer<typeof storedCredentialSchema>;

const credentialsFileSchema = z.object({ version: z.literal(1), credentials: z.array(storedCredentialSchema) });

const IS_WINDOWS = process.platform === 'win32';

/** The platform's configuration directory for Perch, or `PERCH_HOME`. Absolute if the environment's paths are. */
export function getHomeDirectory(
  env: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
  home = homedir(),
): string {
  if (env.PERCH_HOME) return env.PERCH_HOME;
  if (platform === 'win32') return join(env.APPDATA || join(home, 'AppData', 'Roaming'), 'perch');
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'perch');
  return join(env.XDG_CONFIG_HOME || join(home, '.config'), 'perch');
}

/** Default folder for backups. */
export const getBackupsDir = (home: string): string => join(home, 'backups');

/** The bridge's home directory: the owner's token, credentials of linked browsers and browser profiles. */
export class Home {
  readonly dir: string;
  readonly tokenFile: string;
  readonly credentialsFile: string;
  /** Access tokens that the vault accepts (server/access-grants.ts). */
  readonly accessFile: string;
  /** Hash of the owner's password (owner-password.ts). */
  readonly passwordFile: string;
  /** Usage that no host has stored yet (server/receipts.ts). */
  readonly receiptsFile: string;
  readonly profilesDir: string;
  readonly #warn: (line: string) => void;
  #writing: Promise<unknown> = Promise.resolve();

  private constructor(dir: string, warn: (line: string) => void) {
    this.dir = dir;
    this.tokenFile = join(dir, 'token');
    this.credentialsFile = join(dir, 'credentials.json');
    this.accessFile = join(dir, 'access.json');
    this.passwordFile = join(dir, 'password.json');
    this.receiptsFile = join(dir, 'receipts.ndjson');
    this.profilesDir = join(dir, 'profiles');
    this.#warn = warn;
  }

  /** Opens the directory and creates it (mode 0700) if it is missing. Calls `warn` if other users can access it. */
  static async open({ dir = getHomeDirectory(), warn = () => {} }: { dir?: string; warn?: (line: string) => void } = {}): Promise<Home> {
    try {
      await mkdir(dir, { recursive: true, mode: 0o700 });
    } catch (error) {
      throw new Error(`Couldn’t create the folder ${dir}: ${describeError(error)}`, { cause: error });
    }
    const home = new Home(dir, warn);
    await warnIfExposed(dir, 0o700, warn);
    return home;
  }

  /**
   * Returns the owner's token (256 bits, base64url). Creates it with mode 0600 at the first start. Throws if the file holds anything else.
   */
  async token(): Promise<string> {
    const found = await readFileIfExists(this.tokenFile);
    if (found === undefined) return this.#makeToken();
    await warnIfExposed(this.tokenFile, 0o600, this.#warn);
    return this.#readToken(found);
  }

  /** Returns the credentials of linked browsers, oldest first. Throws an error that names the file if it can't be read. */
  async credentials(): Promise<StoredCredential[]> {
    const text = await readFileIfExists(this.credentialsFile);
    if (text === undefined) return [];
    await warnIfExposed(this.credentialsFile, 0o600, this.#warn);
    try {
      return credentialsFileSchema.parse(JSON.parse(text)).credentials;
    } catch (error) {
      throw new Error(`${this.credentialsFile} is damaged. Restore it, or delete it and link your browsers again.`, { cause: error });
    }
  }

  /** Adds credentials. They are on disk when the promise resolves; if it rejects, the file is unchanged. */
  addCredentials(added: readonly StoredCredential[]): Promise<void> {
    return this.#changeCredentials((credentials) => [...credentials, ...added]);
  }

  /** Removes credentials. The change is on disk when the promise resolves. */
  removeCredentials(ids: readonly string[]): Promise<void> {
    return this.#changeCredentials((credentials) => credentials.filter(({ id }) => !ids.includes(id)));
  }

  #changeCredentials(change: (credentials: StoredCredential[]) => StoredCredential[]): Promise<void> {
    const write = this.#writing.then(async () => {
      const credentials = change(await this.credentials());
      await writeFileAtomically(this.credentialsFile, `${JSON.stringify({ version: 1, credentials }, null, 2)}\n`, rename);
    });
    this.#writing = write.catch(() => {});
    return write;
  }

  async #makeToken(): Promise<string> {
    const token = randomBytes(32).toString('base64url');
    try {
      await writeFileAtomically(this.tokenFile, `${token}\n`, linkOrRename);
      return token;
    } catch (error) {
      // Another process created the token first: use that one.
      if (getErrorCode(error) === 'EEXIST') return this.#readToken(await readFile(this.tokenFile, 'utf8'));
      throw new Error(`Couldn’t write the token file ${this.tokenFile}: ${describeError(error)}`, { cause: error });
    }
  }

  #readToken(text: string): string {
    const token = text.trim();
    if (/^[A-Za-z0-9_-]{43,200}$/.test(token)) return token;
    throw new Error(
      `${this.tokenFile} doesn’t contain a valid token (43 characters of base64url). Restore it, or delete it to create a new one.`,
    );
  }
}

/** Warns if other users have more access to a file or directory than `expectedMode` allows. */
export async function warnIfExposed(path: string, expectedMode: number, warn: (line: string) => void): Promise<void> {
  if (IS_WINDOWS) return;
  const { mode } = await stat(path);
  if ((mode & 0o777 & ~expectedMode) === 0) return;
  warn(`${path} can be read by other users (mode ${(mode & 0o777).toString(8)}). Run chmod ${expectedMode.toString(8)} on it.`);
}

/** Writes a file atomically: writes and syncs a temporary file with `mode`, then moves it to `path`. */
export async function writeFileAtomically(
  path: string,
  data: string | Uint8Array,
  moveIntoPlace: (from: string, to: string) => Promise<void>,
  { mode = 0o600, temporary = `${path}.${randomBytes(6).toString('hex')}.tmp` }: { mode?: number; temporary?: string } = {},
): Promise<void> {
  try {
    const file = await open(temporary, 'wx', mode);
    try {
      await file.writeFile(data);
      await file.sync();
    } finally {
      await file.close();
    }
    // The process's umask can only remove permissions; restore the owner's.
    if (!IS_WINDOWS) await chmod(temporary, mode);
    await moveIntoPlace(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
}

/**
 * Links a file, so that an existing `to` is an error (EEXIST), which a rename would replace. Renames on file systems without hard links.
 */
export async function linkOrRename(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (getErrorCode(error) === 'EEXIST') throw error;
    await rename(from, to);
  }
}

export async function readFileIfExists(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return undefined;
    throw new Error(`Couldn’t read ${path}: ${describeError(error)}`, { cause: error });
  }
}

export const getErrorCode = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);
export const describeError = (error: unknown): string => (error instanceof Error ? error.message : String(error));
