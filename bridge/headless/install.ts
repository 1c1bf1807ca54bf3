import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { findBrowser, NoBrowser, thisMachine } from './find.ts';

export interface InstallPlan {
  /** For a person, who is asked: `Debian’s chromium package`. */
  what: string;
  commands: string[][];
}

/** How a Chromium gets onto a machine: as root on Debian and its kin by the package, else Playwright's own. */
export function installPlan({
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
      what: 'Debian’s chromium package',
      commands: [
        ['apt-get', 'update', '-qq'],
        ['apt-get', 'install', '-y', '-qq', 'chromium'],
      ],
    };
  }
  return {
    what: 'Playwright’s Chromium (about 180 MB, for you alone)',
    commands: [[process.execPath, playwrightCli(), 'install', 'chromium', '--no-shell']],
  };
}

export interface EnsureOptions {
  /** Whether someone can be asked. */
  interactive: boolean;
  say(line: string): void;
}

/** The browser of this machine; where it has none it is installed, after asking on a terminal. Throws NoBrowser where that was declined or failed. */
export async function ensureBrowser({ interactive, say }: EnsureOptions): Promise<string> {
  const found = await findBrowser();
  if (found !== null) return found;
  const plan = installPlan({ platform: process.platform, uid: process.getuid?.(), debian: isDebian() });
  if (interactive && !(await agreed(`No Chrome, Chromium or Edge was found. Install ${plan.what}? [Y/n] `))) {
    throw new NoBrowser('there is no Chrome, Chromium or Edge: install one, or name one in PERCH_CHROMIUM, or use --host tab');
  }
  say(`No Chrome, Chromium or Edge was found: installing ${plan.what}. This can take some minutes.`);
  for (const command of plan.commands) await run(command);
  const installed = await findBrowser(thisMachine);
  if (installed === null) throw new NoBrowser('the browser was installed but cannot be found: name it in PERCH_CHROMIUM');
  return installed;
}

/** Debian itself: Ubuntu's package of that name is a shim for a snap, which does not work in containers. */
const isDebian = (): boolean => existsSync('/etc/os-release') && /^ID="?debian"?$/m.test(readFileSync('/etc/os-release', 'utf8'));

function playwrightCli(): string {
  const require = createRequire(import.meta.url);
  return join(dirname(require.resolve('playwright/package.json')), 'cli.js');
}

async function agreed(question: string): Promise<boolean> {
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^(y(es)?)?$/i.test((await reader.question(question)).trim());
  } finally {
    reader.close();
  }
}

/** Runs a command with its output on standard error, for standard output may be someone's input. */
function run(command: string[]): Promise<void> {
  const [program = '', ...args] = command;
  return new Promise((done, fail) => {
    const child = spawn(program, args, { stdio: ['ignore', 2, 2], env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } });
    child.once('error', (error) => fail(new NoBrowser(`${program}: ${error.message}`)));
    child.once('exit', (code, signal) =>
      code === 0
        ? done()
        : fail(
            new NoBrowser(
              `${command.join(' ')} failed (${signal ?? `exit ${code}`}): install a Chromium yourself, or name one in PERCH_CHROMIUM`,
            ),
          ),
    );
  });
}
