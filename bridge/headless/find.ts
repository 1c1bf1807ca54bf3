import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../package-root.ts';

/** Where a browser can be looked for. In tests a made-up machine; else this one. */
export interface Machine {
  platform: NodeJS.Platform;
  env: Readonly<Record<string, string | undefined>>;
  /** Whether a program is there and may be run. */
  runnable(path: string): boolean;
  /** Playwright's own Chromium where it is installed. Asked last: it costs loading Playwright. */
  playwright(): Promise<string | null>;
}

export class NoBrowser extends Error {
  override name = 'NoBrowser';
}

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'microsoft-edge-stable', 'microsoft-edge'];
const MAC_APPS = [
  'Google Chrome.app/Contents/MacOS/Google Chrome',
  'Chromium.app/Contents/MacOS/Chromium',
  'Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
];
const WINDOWS_APPS = [
  'Google\\Chrome\\Application\\chrome.exe',
  'Chromium\\Application\\chrome.exe',
  'Microsoft\\Edge\\Application\\msedge.exe',
];

/** Where system browsers live on a platform, the preferred first. */
export function systemBrowsers({ platform, env }: Pick<Machine, 'platform' | 'env'>): string[] {
  if (platform === 'darwin') {
    const folders = ['/Applications', ...(env.HOME ? [`${env.HOME}/Applications`] : [])];
    return MAC_APPS.flatMap((app) => folders.map((folder) => `${folder}/${app}`));
  }
  if (platform === 'win32') {
    const folders = [env.PROGRAMFILES, env['PROGRAMFILES(X86)'], env.LOCALAPPDATA].filter((folder) => folder !== undefined);
    return WINDOWS_APPS.flatMap((app) => folders.map((folder) => `${folder}\\${app}`));
  }
  const folders = [
    ...new Set([
      ...(env.PATH ?? '').split(delimiter).filter((folder) => folder.startsWith('/')),
      '/usr/bin',
      '/usr/local/bin',
      '/snap/bin',
    ]),
  ];
  return [
    ...NAMES.flatMap((name) => folders.map((folder) => `${folder}/${name}`)),
    '/opt/google/chrome/chrome',
    '/opt/microsoft/msedge/msedge',
  ];
}

/**
 * The program that can host the gateway: the one that PERCH_CHROMIUM names, else the system's Chrome, Chromium or Edge, else
 * Playwright's; null where there is none. Throws NoBrowser where PERCH_CHROMIUM names what cannot be run.
 */
export async function findBrowser(machine: Machine = thisMachine): Promise<string | null> {
  const named = machine.env.PERCH_CHROMIUM;
  if (named) {
    if (machine.runnable(named)) return named;
    throw new NoBrowser(`PERCH_CHROMIUM names ${named}, which is no program that can be run`);
  }
  return systemBrowsers(machine).find(machine.runnable) ?? (await machine.playwright());
}

/** In a process of its own: Playwright takes 85 MB that a bridge would keep. */
const SAY_PATH = "process.stdout.write((await import('playwright')).chromium.executablePath())";

export const thisMachine: Machine = {
  platform: process.platform,
  env: process.env,
  runnable(path) {
    try {
      accessSync(path, process.platform === 'win32' ? constants.F_OK : constants.X_OK);
      return statSync(path).isFile();
    } catch {
      return false;
    }
  },
  async playwright() {
    if (!playwrightHasBrowsers()) return null;
    const path = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', SAY_PATH], { cwd: packageRoot }).then(
      ({ stdout }) => stdout,
      () => '',
    );
    return path !== '' && existsSync(path) ? path : null;
  },
};

/** A look at Playwright's folder first, which is usually missing, so that Playwright need not be loaded to say so. */
function playwrightHasBrowsers(): boolean {
  const { env, platform } = process;
  const home = env.HOME ?? env.USERPROFILE ?? '';
  const cache =
    platform === 'darwin'
      ? join(home, 'Library/Caches')
      : platform === 'win32'
        ? (env.LOCALAPPDATA ?? join(home, 'AppData/Local'))
        : (env.XDG_CACHE_HOME ?? join(home, '.cache'));
  const folder = env.PLAYWRIGHT_BROWSERS_PATH ?? join(cache, 'ms-playwright');
  // `0` means beside the package: only Playwright knows where.
  if (folder === '0') return true;
  try {
    return readdirSync(folder).some((name) => name.startsWith('chromium-'));
  } catch {
    return false;
  }
}
