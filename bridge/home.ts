import { randomBytes } from 'node:crypto';
import { chmod, link, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from '#shared/rpc/zod.ts';

const storedCredential = z.object({
  id: z.string().min(1).max(100),
  secret: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
  kind: z.enum(['app', 'host']),
  /** Milliseconds since 1970. */
  createdAt: z.number(),
  /** What the browser called itself; older builds did not keep it. */
  name: z.string().optional(),
});
/** A secret that the bridge shares with one browser profile: for its pages (`app`), or for its worker (`host`). */
export type StoredCredential = z.infer<typeof storedCredential>;

const credentialsFile = z.object({ version: z.literal(1), credentials: z.array(storedCredential) });

const WINDOWS = process.platform === 'win32';

/** The platform's configuration directory for Perch, or `PERCH_HOME` (decisions, "Frames and connection"). Absolute where the environment is. */
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

/** Where backups lie that nobody gave another place. */
export const backupsDir = (home: string): string => join(home, 'backups');

/** What the bridge keeps on disk: the owner's token, the credentials of linked browsers, the browser's profiles. */
export class Home {
  readonly dir: string;
  readonly tokenFile: string;
  readonly credentialsFile: string;
  /** Whom the vault lets in (server/access.ts). */
  readonly accessFile: string;
  /** The owner's password, as a hash (password.ts). */
  readonly passwordFile: string;
  /** What calls have used that no host has stored yet (server/receipts.ts). */
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

  /** Opens the directory, making it (0700) where it is not there. `warn` hears of modes that let others in. */
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

  /** The owner's token (256 bit, base64url), made at the first start and kept with mode 0600. Throws where the file holds something else. */
  async token(): Promise<string> {
    const found = await readIfThere(this.tokenFile);
    if (found === undefined) return this.#makeToken();
    await checkMode(this.tokenFile, 0o600, this.#warn);
    return this.#readToken(found);
  }

  /** Credentials of linked browsers, oldest first. Throws, naming the file, where it cannot be read. */
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

  /** Adds credentials durably: once it resolves, they survive a crash; when it rejects, the file is as it was. */
  addCredentials(added: readonly StoredCredential[]): Promise<void> {
    return this.#changeCredentials((credentials) => [...credentials, ...added]);
  }

  /** Takes credentials out, as durably. */
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
      // Another start was faster: its token counts.
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

/** Warns where others may do with a file, or directory, what `wanted` does not let them. */
export async function checkMode(path: string, wanted: number, warn: (line: string) => void): Promise<void> {
  if (WINDOWS) return;
  const { mode } = await stat(path);
  if ((mode & 0o777 & ~wanted) === 0) return;
  warn(`${path} can be read by other users (mode ${(mode & 0o777).toString(8)}). Run chmod ${wanted.toString(8)} on it.`);
}

/** Writes a file beside its place, as `temporary` and with `mode`, syncs it, and then puts it there in one step. */
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
    // The process's umask can only take rights away; this gives back the owner's own.
    if (!WINDOWS) await chmod(temporary, mode);
    await place(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** A hard link fails where the name is taken, which a rename does not; where there are no hard links, a rename must do. */
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
