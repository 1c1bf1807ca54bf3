import { userInfo } from 'node:os';
import type { systemPort } from '#shared/ports/system-port.ts';
import { findHostBrowser, BrowserNotFoundError } from '../../headless/find-browser.ts';
import type { Home } from '../../home-directory.ts';
import type { ProcessKeeper } from '../../processes/process-keeper.ts';
import type { HostMode } from '../../server/host-rank.ts';
import type { PortHandlers } from '../serve-port.ts';
import { getVaultKeyLocation } from '../../journal/key-in-keyring.ts';
import { LatestVersion } from './latest-version.ts';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { SECRETS_FILE } from '../secrets/secrets-handlers.ts';
import { JOURNAL_FILE, KEY_FILE } from '../../journal/file-names.ts';
import { SYNC_FILE } from '../../sync/sync-settings.ts';
import { type RunProgramOptions, runProgram } from './run-program.ts';

const VERSION_MS = 5_000;

/** Python may be installed in the meantime. */
const MISSING_CACHE_MS = 60_000;

const PROGRAMS = process.platform === 'win32' ? ['python', 'python3', 'py'] : ['python3', 'python'];

/** Finds this machine's Python. A version found is cached; otherwise it is looked for again after a minute. */
class PythonFinder {
  readonly #options: Pick<RunProgramOptions, 'env' | 'keeper'>;
  #cached: { at: number; getVersion: Promise<string | null> } | undefined;

  constructor(options: Pick<RunProgramOptions, 'env' | 'keeper'>) {
    this.#options = options;
  }

  /** Version such as `3.13.5`; null if there is no Python. */
  async version(): Promise<string | null> {
    const now = performance.now();
    this.#cached ??= { at: now, getVersion: this.#findVersion() };
    const version = await this.#cached.getVersion;
    if (version === null && now - this.#cached.at > MISSING_CACHE_MS) this.#cached = undefined;
    return version;
  }

  async #findVersion(): Promise<string | null> {
    for (const program of PROGRAMS) {
      const { stdout, stderr, code } = await runProgram(program, ['--version'], { timeout: VERSION_MS, ...this.#options });
      // Windows has a `python` that only opens its store.
      const version = code === 0 ? /Python (\d+\.\d+[\w.+]*)/.exec(`${stdout}${stderr}`)?.[1] : undefined;
      if (version !== undefined) return version;
    }
    return null;
  }
}

interface ExposedFile {
  path: string;
  mode: string;
  wanted: string;
}

export interface SystemDeps {
  home: Pick<Home, 'dir' | 'tokenFile' | 'credentialsFile' | 'accessFile' | 'passwordFile'>;
  /** Version of the package and build of the served app. */
  version: string;
  build: string;
  mode: HostMode;
  /** Ends the programs run here with the bridge. */
  keeper: Pick<ProcessKeeper, 'keep'>;
  /** Overrides for tests. */
  env?: NodeJS.ProcessEnv;
  isRoot?: boolean;
  findBrowser?: () => Promise<string | null>;
  now?: () => number;
}

type Handlers = PortHandlers<(typeof systemPort)['calls'], (typeof systemPort)['events']>;

/** Handlers that describe the bridge and its machine (shared/ports/system-port.ts). */
export function createSystemHandlers(deps: SystemDeps): Handlers {
  const { home, version, build, mode, keeper, env = process.env, isRoot = process.getuid?.() === 0, now = Date.now } = deps;
  const find = deps.findBrowser ?? findHostBrowser;
  const python = new PythonFinder({ env, keeper });
  const latest = new LatestVersion({ cwd: home.dir, env, keeper });
  return {
    'system.about': async () => {
      const found = await python.version();
      return { version, build, node: process.versions.node, platform: process.platform, python: found, now: now() };
    },

    'system.faults': async () => {
      const windows = process.platform === 'win32';
      let noBrowser: string | null = null;
      const browser = await find().catch((error: unknown) => {
        if (!(error instanceof BrowserNotFoundError)) throw error;
        noBrowser = error.message.replace(/\.?$/, '.');
        return null;
      });
      return {
        open: windows ? [] : await findExposedFiles(home),
        vaultKey: await getVaultKeyLocation(home.dir),
        modesUnknown: windows ? 'Windows has no file modes. See the folder’s properties for who can read the files.' : null,
        unsandboxed: isRoot,
        user: { name: getUserName(), root: isRoot },
        hostMode: mode,
        browser,
        noBrowser,
      };
    },

    'system.latest': () => latest.get(),
  };
}

/** Some users have no entry in the system's user database. */
function getUserName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** Finds files in the home directory that other users should not be able to read or change. */
async function findExposedFiles({
  dir,
  ...home
}: Pick<Home, 'dir' | 'tokenFile' | 'credentialsFile' | 'accessFile' | 'passwordFile'>): Promise<ExposedFile[]> {
  const homeFiles = [home.tokenFile, home.credentialsFile, home.accessFile, home.passwordFile];
  const vaultFiles = [KEY_FILE, JOURNAL_FILE, SECRETS_FILE, SYNC_FILE].map((name) => join(dir, name));
  const files = [...homeFiles, ...vaultFiles].map((path) => ({ path, wanted: 0o600 }));
  const found = await Promise.all(
    [{ path: dir, wanted: 0o700 }, ...files].map(async ({ path, wanted }) => {
      const mode = await stat(path).then(
        (stats) => stats.mode & 0o777,
        () => undefined,
      );
      return mode !== undefined && (mode & ~wanted) !== 0 ? [{ path, mode: mode.toString(8), wanted: wanted.toString(8) }] : [];
    }),
  );
  return found.flat();
}
