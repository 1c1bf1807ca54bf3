import { userInfo } from 'node:os';
import type { systemPort } from '#shared/ports/system-port.ts';
import { findHostBrowser, BrowserNotFoundError } from '../../headless/find-browser.ts';
import type { Home } from '../../home-directory.ts';
import type { ProcessKeeper } from '../../processes/process-keeper.ts';
import type { HostMode } from '../../server/host-rank.ts';
import type { PortHandlers } from '../../server/serve-port.ts';
import { findExposedFiles } from './file-modes.ts';
import { getVaultKeyLocation } from '../../journal/key-in-keyring.ts';
import { LatestVersion } from './latest-version.ts';
import { PythonFinder } from './find-python.ts';

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
