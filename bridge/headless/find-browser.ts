import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../package-root.ts';

/** The machine to look for browsers on: this one, or a fake in tests. */
export interface BrowserMachine {
  platform: NodeJS.Platform;
  env: Readonly<Record<string, string | undefined>>;
  /** Whether a program exists and is executable. */
  runnable(path: string): boolean;
  /** Playwright's own headless shell, if it is installed. */
  playwrightShell(): string | null;
  /** Playwright's own full Chromium, if it is installed. Checked last, since it requires starting Playwright. */
  playwright(): Promise<string | null>;
}

export class BrowserNotFoundError extends Error {
  override name = 'BrowserNotFoundError';
}

/** Debian's package `chromium-headless-shell`, and the name in Chrome for Testing's archives. */
const SHELL_NAMES = ['chromium-headless-shell', 'chrome-headless-shell'];
/** Debian's program itself: the one on the PATH is a script that stays its parent and does not forward signals. */
const DEBIAN_SHELL = '/usr/lib/chromium/chromium-headless-shell';
const FULL_NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'microsoft-edge-stable', 'microsoft-edge'];
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

/** Folders to search for programs on Linux. */
const getProgramFolders = (env: BrowserMachine['env']): string[] => [
  ...new Set([...(env.PATH ?? '').split(delimiter).filter((folder) => folder.startsWith('/')), '/usr/bin', '/usr/local/bin', '/snap/bin']),
];

/** Paths of the system's full browsers, in order of preference. */
export function listSystemBrowsers({ platform, env }: Pick<BrowserMachine, 'platform' | 'env'>): string[] {
  if (platform === 'darwin') {
    const folders = ['/Applications', ...(env.HOME ? [`${env.HOME}/Applications`] : [])];
    return MAC_APPS.flatMap((app) => folders.map((folder) => `${folder}/${app}`));
  }
  if (platform === 'win32') {
    const folders = [env.PROGRAMFILES, env['PROGRAMFILES(X86)'], env.LOCALAPPDATA].filter((folder) => folder !== undefined);
    return WINDOWS_APPS.flatMap((app) => folders.map((folder) => `${folder}\\${app}`));
  }
  return [
    ...FULL_NAMES.flatMap((name) => getProgramFolders(env).map((folder) => `${folder}/${name}`)),
    '/opt/google/chrome/chrome',
    '/opt/microsoft/msedge/msedge',
  ];
}

/** Paths of the system's headless shells. Only Linux distributions package one. */
function listSystemShells({ platform, env }: BrowserMachine): string[] {
  if (platform === 'darwin' || platform === 'win32') return [];
  return [DEBIAN_SHELL, ...SHELL_NAMES.flatMap((name) => getProgramFolders(env).map((folder) => `${folder}/${name}`))];
}

const SHELL_FILE = /^(chromium-|chrome-)?headless[-_]shell(\.exe)?$/;

/** Whether a program is a headless shell, by its name. Headless shells have no windows, extensions or app installation. */
export const isHeadlessShell = (path: string): boolean => SHELL_FILE.test(path.split(/[\\/]/).at(-1) ?? '');

/** Returns the browser that PERCH_CHROMIUM names. Throws NoBrowser if it is not executable. */
function getNamedBrowser({ env, runnable }: BrowserMachine): string | null {
  const path = env.PERCH_CHROMIUM;
  if (!path) return null;
  if (!runnable(path)) throw new BrowserNotFoundError(`PERCH_CHROMIUM is set to ${path}, which is not executable`);
  return path;
}

/**
 * Finds the browser to host the gateway: the one named by PERCH_CHROMIUM, else a headless shell (smaller and faster to start), else the
 * system's Chrome, Chromium or Edge, else Playwright's Chromium. Null if there is none. Throws NoBrowser if PERCH_CHROMIUM names a program
 * that is not executable.
 */
export async function findHostBrowser(machine: BrowserMachine = getThisMachine): Promise<string | null> {
  return (
    getNamedBrowser(machine) ??
    listSystemShells(machine).find(machine.runnable) ??
    machine.playwrightShell() ??
    (await findFullBrowser(machine))
  );
}

/**
 * Finds a full browser, with windows and extensions: the one named by PERCH_CHROMIUM unless that is a headless shell, else the system's
 * Chrome, Chromium or Edge, else Playwright's Chromium. Null if there is none. Throws NoBrowser as above.
 */
export async function findFullBrowser(machine: BrowserMachine = getThisMachine): Promise<string | null> {
  const namedBrowser = getNamedBrowser(machine);
  if (namedBrowser !== null && !isHeadlessShell(namedBrowser)) return namedBrowser;
  return listSystemBrowsers(machine).find(machine.runnable) ?? (await machine.playwright());
}

/**
 * Finds the browser that agents control without a window: a full one, which sites treat like a person's, else a headless shell. Throws
 * NoBrowser as above.
 */
export async function findDrivenBrowser(machine: BrowserMachine = getThisMachine): Promise<string | null> {
  return (await findFullBrowser(machine)) ?? (await findHostBrowser(machine));
}

/** Runs in a separate process, because loading Playwright takes 85 MB. */
const PRINT_PATH_SCRIPT = "process.stdout.write((await import('playwright')).chromium.executablePath())";

export const getThisMachine: BrowserMachine = {
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
  playwrightShell: () => findPlaywrightShell(findPlaywrightFolder(), getThisMachine.runnable),
  async playwright() {
    const folder = findPlaywrightFolder();
    // Checks the folder first, since loading Playwright is not needed to find that it has no browser.
    if (folder !== null && !listFolders(folder).some((name) => name.startsWith('chromium-'))) return null;
    const path = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', PRINT_PATH_SCRIPT], { cwd: packageRoot }).then(
      ({ stdout }) => stdout,
      () => '',
    );
    return path !== '' && existsSync(path) ? path : null;
  },
};

/** Folder of Playwright's browsers; null if they are inside the package, where only Playwright finds them. */
function findPlaywrightFolder(): string | null {
  const { env, platform } = process;
  const home = env.HOME ?? env.USERPROFILE ?? '';
  const cache =
    platform === 'darwin'
      ? join(home, 'Library/Caches')
      : platform === 'win32'
        ? (env.LOCALAPPDATA ?? join(home, 'AppData/Local'))
        : (env.XDG_CACHE_HOME ?? join(home, '.cache'));
  const folder = env.PLAYWRIGHT_BROWSERS_PATH ?? join(cache, 'ms-playwright');
  return folder === '0' ? null : folder;
}

function listFolders(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Newest headless shell in a folder of Playwright's browsers: `chromium_headless_shell-<revision>/<platform>/<program>`. */
export function findPlaywrightShell(folder: string | null, runnable: BrowserMachine['runnable']): string | null {
  if (folder === null) return null;
  const revision = (name: string): number => Number(name.split('-')[1]);
  const shells = listFolders(folder).filter((name) => /^chromium_headless_shell-\d+$/.test(name));
  for (const shell of shells.sort((a, b) => revision(b) - revision(a)))
    for (const platform of listFolders(join(folder, shell)))
      for (const name of listFolders(join(folder, shell, platform))) {
        const program = join(folder, shell, platform, name);
        if (SHELL_FILE.test(name) && runnable(program)) return program;
      }
  return null;
}
