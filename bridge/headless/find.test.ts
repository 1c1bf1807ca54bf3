import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { findBrowser, type Machine, NoBrowser, systemBrowsers, thisMachine } from './find.ts';
import { installPlan } from './install.ts';

const machine = (platform: NodeJS.Platform, env: Machine['env'], programs: string[], playwright: string | null = null): Machine => ({
  platform,
  env,
  runnable: (path) => programs.includes(path),
  playwright: async () => playwright,
});

verifies('headless/which', 'the named one, else the system’s, else Playwright’s, else none', async () => {
  const env = { PATH: '/home/me/bin:/usr/bin' };
  const system = ['/usr/bin/google-chrome', '/usr/bin/chromium', '/opt/mine/chrome'];
  expect(await findBrowser(machine('linux', { ...env, PERCH_CHROMIUM: '/opt/mine/chrome' }, system, '/pw/chrome'))).toBe(
    '/opt/mine/chrome',
  );
  expect(await findBrowser(machine('linux', env, system, '/pw/chrome'))).toBe('/usr/bin/chromium');
  expect(await findBrowser(machine('linux', env, [], '/pw/chrome'))).toBe('/pw/chrome');
  expect(await findBrowser(machine('linux', env, []))).toBeNull();
});

test('a name that cannot be run is an error, not a reason to take another', async () => {
  const search = findBrowser(machine('linux', { PATH: '/usr/bin', PERCH_CHROMIUM: '/no/such' }, ['/usr/bin/chromium'], '/pw/chrome'));
  await expect(search).rejects.toThrow(NoBrowser);
  await expect(search).rejects.toThrow('PERCH_CHROMIUM names /no/such');
});

test('macOS and Windows are searched where their browsers live', () => {
  expect(systemBrowsers({ platform: 'darwin', env: { HOME: '/Users/me' } })).toContain(
    '/Users/me/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  );
  expect(
    systemBrowsers({ platform: 'win32', env: { PROGRAMFILES: 'C:\\Program Files', 'PROGRAMFILES(X86)': 'C:\\Program Files (x86)' } }),
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
  expect(thisMachine.runnable(folder)).toBe(false);
  rmSync(folder, { recursive: true, maxRetries: 20, retryDelay: 50 });
});

test('it is installed by the package as root on Debian, else by Playwright', () => {
  expect(installPlan({ platform: 'linux', uid: 0, debian: true }).commands).toEqual([
    ['apt-get', 'update', '-qq'],
    ['apt-get', 'install', '-y', '-qq', 'chromium'],
  ]);
  for (const other of [
    { platform: 'linux', uid: 1000, debian: true },
    { platform: 'linux', uid: 0, debian: false },
    { platform: 'darwin', uid: 501, debian: false },
    { platform: 'win32', uid: undefined, debian: false },
  ] as const) {
    expect(installPlan(other).commands.map((command) => command.slice(2))).toEqual([['install', 'chromium', '--no-shell']]);
  }
});
