import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import {
  findDrivenBrowser,
  findFullBrowser,
  findHostBrowser,
  findPlaywrightShell,
  isHeadlessShell,
  type BrowserMachine,
  BrowserNotFoundError,
  listSystemBrowsers,
  getThisMachine,
} from './find-browser.ts';
import { createInstallPlan } from './install-browser.ts';

interface InstalledPrograms {
  env?: BrowserMachine['env'];
  programs?: readonly string[];
  playwright?: string;
  playwrightShell?: string;
}

const linux = ({ env, programs = [], playwright, playwrightShell }: InstalledPrograms): BrowserMachine => ({
  platform: 'linux',
  env: { PATH: '/home/me/bin:/usr/bin', ...env },
  runnable: (path) => programs.includes(path),
  playwrightShell: () => playwrightShell ?? null,
  playwright: async () => playwright ?? null,
});

const SHELL = '/usr/bin/chromium-headless-shell';
const FULL = ['/usr/bin/google-chrome', '/usr/bin/chromium'];

verifies(
  'headless/which',
  'the host is the named browser, else a headless shell, else the system’s browser, else Playwright’s, else none',
  async () => {
    const playwright = { playwright: '/pw/chrome', playwrightShell: '/pw/shell' };
    const find = (installed: InstalledPrograms): Promise<string | null> => findHostBrowser(linux(installed));
    const named = { env: { PERCH_CHROMIUM: '/opt/mine/chrome' } };
    expect(await find({ ...named, programs: ['/opt/mine/chrome', SHELL, ...FULL], ...playwright })).toBe('/opt/mine/chrome');
    expect(await find({ programs: [...FULL, SHELL], ...playwright })).toBe(SHELL);
    expect(await find({ programs: FULL, ...playwright })).toBe('/pw/shell');
    expect(await find({ programs: FULL, playwright: '/pw/chrome' })).toBe('/usr/bin/chromium');
    expect(await find({ playwright: '/pw/chrome' })).toBe('/pw/chrome');
    expect(await find({})).toBeNull();
  },
);

verifies('headless/which', 'a full browser is found before a headless shell, which cannot stand in for it', async () => {
  const both = linux({ programs: [SHELL, ...FULL] });
  expect(await findFullBrowser(both)).toBe('/usr/bin/chromium');
  expect(await findDrivenBrowser(both)).toBe('/usr/bin/chromium');
  const shellOnly = linux({ programs: [SHELL], playwrightShell: '/pw/shell' });
  expect(await findFullBrowser(shellOnly)).toBeNull();
  expect(await findDrivenBrowser(shellOnly)).toBe(SHELL);
  expect(await findFullBrowser(linux({ programs: [SHELL], playwright: '/pw/chrome' }))).toBe('/pw/chrome');
  // PERCH_CHROMIUM names the host’s browser. It is also used where a full browser is required if it is one.
  expect(await findFullBrowser(linux({ env: { PERCH_CHROMIUM: SHELL }, programs: [SHELL, ...FULL] }))).toBe('/usr/bin/chromium');
  expect(await findFullBrowser(linux({ env: { PERCH_CHROMIUM: '/opt/mine/chrome' }, programs: ['/opt/mine/chrome', ...FULL] }))).toBe(
    '/opt/mine/chrome',
  );
  expect(await findDrivenBrowser(linux({ env: { PERCH_CHROMIUM: '/opt/headless-shell' }, programs: ['/opt/headless-shell'] }))).toBe(
    '/opt/headless-shell',
  );
});

test('headless shells are known by their names', () => {
  const shells = [SHELL, 'C:\\pw\\chrome-headless-shell.exe', '/pw/chrome-linux/headless_shell'];
  expect(shells.filter(isHeadlessShell)).toEqual(shells);
  expect(['/usr/bin/chromium', '/opt/headless-shell/chrome'].filter(isHeadlessShell)).toEqual([]);
});

test('the newest of Playwright’s headless shells is found', () => {
  const folder = mkdtempSync(join(tmpdir(), 'perch-find-'));
  const install = (path: string): string => {
    const file = join(folder, path);
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, '');
    chmodSync(file, 0o755);
    return file;
  };
  expect(findPlaywrightShell(folder, getThisMachine.runnable)).toBeNull();
  install('chromium-1255/chrome-linux64/chrome');
  install('chromium_headless_shell-999/chrome-linux/headless_shell');
  const newest = install('chromium_headless_shell-1255/chrome-headless-shell-linux64/chrome-headless-shell');
  install('chromium_headless_shell-1255/chrome-headless-shell-linux64/LICENSE.headless_shell');
  expect(findPlaywrightShell(folder, getThisMachine.runnable)).toBe(newest);
  expect(findPlaywrightShell(join(folder, 'missing'), getThisMachine.runnable)).toBeNull();
  expect(findPlaywrightShell(null, getThisMachine.runnable)).toBeNull();
  rmSync(folder, { recursive: true, maxRetries: 20, retryDelay: 50 });
});

test('a name that cannot be run is an error, not a reason to take another', async () => {
  const machine = linux({ env: { PERCH_CHROMIUM: '/no/such' }, programs: FULL, playwright: '/pw/chrome' });
  for (const find of [findHostBrowser, findFullBrowser, findDrivenBrowser]) {
    await expect(find(machine)).rejects.toThrow(BrowserNotFoundError);
    await expect(find(machine)).rejects.toThrow('PERCH_CHROMIUM is set to /no/such');
  }
});

test('macOS and Windows are searched where their browsers live', () => {
  expect(listSystemBrowsers({ platform: 'darwin', env: { HOME: '/Users/me' } })).toContain(
    '/Users/me/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  );
  expect(
    listSystemBrowsers({ platform: 'win32', env: { PROGRAMFILES: 'C:\\Program Files', 'PROGRAMFILES(X86)': 'C:\\Program Files (x86)' } }),
  ).toEqual([
    'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
    'C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe',
    'C:\\Program Files\\Chromium\\Application\\chrome.exe',
    'C:\\Program Files (x86)\\Chromium\\Application\\chrome.exe',
    'C:\\Program Files\\Microsoft\\Edge\\Application\\msedge.exe',
    'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe',
  ]);
});

test('a folder is no program', () => {
  const folder = mkdtempSync(join(tmpdir(), 'perch-find-'));
  expect(getThisMachine.runnable(folder)).toBe(false);
  rmSync(folder, { recursive: true, maxRetries: 20, retryDelay: 50 });
});

test('a headless shell is installed by the package as root on Debian, else by Playwright', () => {
  expect(createInstallPlan({ platform: 'linux', uid: 0, debian: true }).commands).toEqual([
    ['apt-get', 'update', '-qq'],
    ['apt-get', 'install', '-y', '-qq', '--no-install-recommends', 'chromium-headless-shell', 'fonts-liberation'],
  ]);
  for (const other of [
    { platform: 'linux', uid: 1000, debian: true },
    { platform: 'linux', uid: 0, debian: false },
    { platform: 'darwin', uid: 501, debian: false },
    { platform: 'win32', uid: undefined, debian: false },
  ] as const) {
    expect(createInstallPlan(other).commands.map((command) => command.slice(2))).toEqual([['install', 'chromium-headless-shell']]);
  }
});
