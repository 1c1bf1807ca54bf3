import { randomBytes } from 'node:crypto';
import { chmod, link, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from '#shared/rpc/zod.ts';

const storedCredential = z.object({
  id: z.string().min(1).max(100),
  secret: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
  kind: z.enum(['app', 'host']),
  /** Milliseconds since the Unix epoch. */
  createdAt: z.number(),
  /** Name that the browser reported. Missing in credentials of older builds. */
  name: z.string().optional(),
});
/** A secret shared with one browser profile: for its pages (`app`) or its worker (`host`). */
export type StoredCredential = z.infer<typeof storedCredential>;

const credentialsFile = z.object({ version: z.literal(1), credentials: z.array(storedCredential) });

const WINDOWS = process.platform === 'win32';

/** The platform's configuration directory for Perch, or `PERCH_HOME`. Absolute if the environment's paths are. */
export function homeDirectory(
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
export const backupsDir = (home: string): string => join(home, 'backups');

/** The bridge's home directory: the owner's token, credentials of linked browsers and browser profiles. */
export class Home {
  readonly dir: string;
  readonly tokenFile: string;
  readonly credentialsFile: string;
  /** Access tokens that the vault accepts (server/access.ts). */
  readonly accessFile: string;
  /** Hash of the owner's password (password.ts). */
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
  static async open({ dir = homeDirectory(), warn = () => {} }: { dir?: string; warn?: (line: string) => void } = {}): Promise<Home> {
    try {
      await mkdir(dir, { recursive: true, mode: 0o700 });
    } catch (error) {
      throw new Error(`Couldn’t create the folder ${dir}: ${reasonOf(error)}`, { cause: error });
    }
    const home = new Home(dir, warn);
    await checkMode(dir, 0o700, warn);
    return home;
  }

  /**
   * Returns the owner's token (256 bits, base64url). Creates it with mode 0600 at the first start. Throws if the file holds anything else.
   */
  async token(): Promise<string> {
    const found = await readIfThere(this.tokenFile);
    if (found === undefined) return this.#makeToken();
    await checkMode(this.tokenFile, 0o600, this.#warn);
    return this.#readToken(found);
  }

  /** Returns the credentials of linked browsers, oldest first. Throws an error that names the file if it can't be read. */
  async credentials(): Promise<StoredCredential[]> {
    const text = await readIfThere(this.credentialsFile);
    if (text === undefined) return [];
    await checkMode(this.credentialsFile, 0o600, this.#warn);
    try {
      return credentialsFile.parse(JSON.parse(text)).credentials;
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
      await writeWhole(this.credentialsFile, `${JSON.stringify({ version: 1, credentials }, null, 2)}\n`, rename);
    });
    this.#writing = write.catch(() => {});
    return write;
  }

  async #makeToken(): Promise<string> {
    const token = randomBytes(32).toString('base64url');
    try {
      await writeWhole(this.tokenFile, `${token}\n`, linkOrRename);
      return token;
    } catch (error) {
      // Another process created the token first: use that one.
      if (codeOf(error) === 'EEXIST') return this.#readToken(await readFile(this.tokenFile, 'utf8'));
      throw new Error(`Couldn’t write the token file ${this.tokenFile}: ${reasonOf(error)}`, { cause: error });
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

/** Warns if other users have more access to a file or directory than `wanted` allows. */
export async function checkMode(path: string, wanted: number, warn: (line: string) => void): Promise<void> {
  if (WINDOWS) return;
  const { mode } = await stat(path);
  if ((mode & 0o777 & ~wanted) === 0) return;
  warn(`${path} can be read by other users (mode ${(mode & 0o777).toString(8)}). Run chmod ${wanted.toString(8)} on it.`);
}

/** Writes a file atomically: writes and syncs a temporary file with `mode`, then moves it to `path`. */
export async function writeWhole(
  path: string,
  data: string | Uint8Array,
  place: (from: string, to: string) => Promise<void>,
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
    if (!WINDOWS) await chmod(temporary, mode);
    await place(temporary, path);
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
    if (codeOf(error) === 'EEXIST') throw error;
    await rename(from, to);
  }
}

export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw new Error(`Couldn’t read ${path}: ${reasonOf(error)}`, { cause: error });
  }
}

export const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);
export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
