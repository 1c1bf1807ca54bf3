import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { findHostBrowser, BrowserNotFoundError } from './find-browser.ts';

interface InstallPlan {
  /** Name shown to the user: `Debian’s package chromium-headless-shell`. */
  label: string;
  commands: string[][];
}

/** Returns how to install the headless shell that hosts the gateway: Debian's package if root on Debian, else Playwright's. */
export function createInstallPlan({
  platform,
  uid,
  debian,
}: {
  platform: NodeJS.Platform;
  uid: number | undefined;
  debian: boolean;
}): InstallPlan {
  if (platform === 'linux' && debian && uid === 0) {
    return {
      label: 'the Debian package chromium-headless-shell',
      commands: [
        ['apt-get', 'update', '-qq'],
        ['apt-get', 'install', '-y', '-qq', '--no-install-recommends', 'chromium-headless-shell', 'fonts-liberation'],
      ],
    };
  }
  return {
    label: 'Playwright’s headless Chromium (about 110 MB, for your user only)',
    commands: [[process.execPath, findPlaywrightCli(), 'install', 'chromium-headless-shell']],
  };
}

interface EnsureBrowserOptions {
  /** Whether the user can be asked. */
  interactive: boolean;
  report(line: string): void;
}

/**
 * Returns the browser that hosts the gateway. A missing one is installed, after asking on a terminal. Throws NoBrowser if that was declined
 * or failed.
 */
export async function ensureBrowser({ interactive, report }: EnsureBrowserOptions): Promise<string> {
  const found = await findHostBrowser();
  if (found !== null) return found;
  if (interactive && !(await askToInstall()))
    throw new BrowserNotFoundError('No Chrome, Chromium or Edge found. Install one, set PERCH_CHROMIUM, or use --host tab');
  return installBrowser(report);
}

/** Asks on the terminal whether to install a browser. */
export const askToInstall = (): Promise<boolean> =>
  askConfirmation(`No Chrome, Chromium or Edge found. Install ${createLocalPlan().label}? [Y/n] `);

/** Installs the headless shell and resolves to its path. Throws NoBrowser if that fails. */
export async function installBrowser(report: (line: string) => void): Promise<string> {
  const plan = createLocalPlan();
  report(`No Chrome, Chromium or Edge found. Installing ${plan.label}. This can take a few minutes.`);
  for (const command of plan.commands) await runInstallCommand(command);
  const installed = await findHostBrowser();
  if (installed === null) throw new BrowserNotFoundError('The browser was installed but not found. Set PERCH_CHROMIUM to its path');
  return installed;
}

const createLocalPlan = (): InstallPlan => createInstallPlan({ platform: process.platform, uid: process.getuid?.(), debian: isDebian() });

/** Debian only: Ubuntu's package of that name installs a snap, which does not work in containers. */
const isDebian = (): boolean => existsSync('/etc/os-release') && /^ID="?debian"?$/m.test(readFileSync('/etc/os-release', 'utf8'));

function findPlaywrightCli(): string {
  const require = createRequire(import.meta.url);
  return join(dirname(require.resolve('playwright/package.json')), 'cli.js');
}

async function askConfirmation(question: string): Promise<boolean> {
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^(y(es)?)?$/i.test((await reader.question(question)).trim());
  } finally {
    reader.close();
  }
}

/** Runs a command with its output on standard error, since standard output may be piped. */
function runInstallCommand(command: string[]): Promise<void> {
  const [program = '', ...args] = command;
  return new Promise((done, fail) => {
    const child = spawn(program, args, { stdio: ['ignore', 2, 2], env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } });
    child.once('error', (error) => fail(new BrowserNotFoundError(`${program}: ${error.message}`)));
    child.once('exit', (code, signal) =>
      code === 0
        ? done()
        : fail(
            new BrowserNotFoundError(
              `${command.join(' ')} failed (${signal ?? `exit ${code}`}). Install Chromium yourself, or set PERCH_CHROMIUM`,
            ),
          ),
    );
  });
}
