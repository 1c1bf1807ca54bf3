import { userInfo } from 'node:os';
import type { systemPort } from '#shared/ports/system.ts';
import { findHostBrowser, NoBrowser } from '../../headless/find.ts';
import type { Home } from '../../home.ts';
import type { Keeper } from '../../processes/keep.ts';
import type { HostMode } from '../../server/host-rank.ts';
import type { PortHandlers } from '../../server/serve-port.ts';
import { openFiles } from './file-modes.ts';
import { vaultKeyPlace } from '../../journal/key-in-keyring.ts';
import { LatestVersion } from './latest.ts';
import { Python } from './python.ts';

export interface SystemDeps {
  home: Pick<Home, 'dir' | 'tokenFile' | 'credentialsFile' | 'accessFile' | 'passwordFile'>;
  /** Version of the package and build of the served app. */
  version: string;
  build: string;
  mode: HostMode;
  /** Ends the programs run here with the bridge. */
  keeper: Pick<Keeper, 'keep'>;
  /** Overrides for tests. */
  env?: NodeJS.ProcessEnv;
  isRoot?: boolean;
  findBrowser?: () => Promise<string | null>;
  now?: () => number;
}

type Handlers = PortHandlers<(typeof systemPort)['calls'], (typeof systemPort)['events']>;

/** Handlers that describe the bridge and its machine (shared/ports/system.ts). */
export function systemHandlers(deps: SystemDeps): Handlers {
  const { home, version, build, mode, keeper, env = process.env, isRoot = process.getuid?.() === 0, now = Date.now } = deps;
  const find = deps.findBrowser ?? findHostBrowser;
  const python = new Python({ env, keeper });
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
        if (!(error instanceof NoBrowser)) throw error;
        noBrowser = error.message.replace(/\.?$/, '.');
        return null;
      });
      return {
        open: windows ? [] : await openFiles(home),
        vaultKey: await vaultKeyPlace(home.dir),
        modesUnknown: windows ? 'Windows has no file modes. See the folder’s properties for who can read the files.' : null,
        unsandboxed: isRoot,
        user: { name: userName(), root: isRoot },
        hostMode: mode,
        browser,
        noBrowser,
      };
    },

    'system.latest': () => latest.ask(),
  };
}

/** Some users have no entry in the system's user database. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}
