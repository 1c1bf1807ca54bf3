import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { findHostBrowser } from './find-browser.ts';
import { awaitProfile, lockProfile, getMajorVersion, prepareProfile, ProfileInUseError, getProfileHolder } from './browser-profile.ts';

let folder: string;
let profile: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perch-profile-'));
  profile = join(folder, 'gateway');
});
afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));

verifies('headless/profile', 'a later or equal browser keeps the profile, an earlier one starts afresh and the data is kept aside', () => {
  expect(prepareProfile(profile, 155)).toBeNull();
  writeFileSync(join(profile, 'data'), 'of 155');
  expect(prepareProfile(profile, 155)).toBeNull();
  expect(prepareProfile(profile, 156)).toBeNull();
  expect(existsSync(join(profile, 'data'))).toBe(true);

  const oldProfile = prepareProfile(profile, 155) ?? '';
  expect(readdirSync(oldProfile)).toContain('data');
  expect(existsSync(join(profile, 'data'))).toBe(false);

  // The earlier browser is remembered now, and a second downgrade does not overwrite the first one's backup.
  expect(prepareProfile(profile, 155)).toBeNull();
  prepareProfile(profile, 156);
  expect(prepareProfile(profile, 150)).not.toBe(oldProfile);
  expect(readdirSync(oldProfile)).toContain('data');
});

test('a browser that does not say its version keeps the profile', () => {
  prepareProfile(profile, 156);
  writeFileSync(join(profile, 'data'), '');
  expect(prepareProfile(profile, null)).toBeNull();
  expect(existsSync(join(profile, 'data'))).toBe(true);
});

test('the real browser says its major version', async () => {
  expect(await getMajorVersion((await findHostBrowser()) ?? '')).toBeGreaterThan(100);
  expect(await getMajorVersion(join(folder, 'missing'))).toBeNull();
});

test('a lock of a dead process or of another program does not block the start; one of another machine is reported', async () => {
  prepareProfile(profile, 156);
  const lock = (target: string): void => {
    rmSync(join(profile, 'SingletonLock'), { force: true });
    symlinkSync(target, join(profile, 'SingletonLock'));
  };
  expect(getProfileHolder(profile)).toBeNull();
  lock(`${hostname()}-4194304`);
  expect(getProfileHolder(profile)).toBeNull();
  if (process.platform === 'linux') {
    lock(`${hostname()}-${process.pid}`);
    expect(getProfileHolder(profile)).toBeNull();
  }
  lock('elsewhere-12');
  await expect(awaitProfile(profile, 0, sleep)).rejects.toThrow(/in use on the computer elsewhere\. .*delete .*SingletonLock/);
});

test('a profile is held for a browser that writes no lock of its own; a dead lock is replaced, a live one refuses', async () => {
  prepareProfile(profile, 156);
  // Runs until its input ends, with the profile in its arguments like a browser.
  const browser = spawn(process.execPath, ['-e', 'process.stdin.resume()', profile]);
  const other = spawn(process.execPath, ['-e', 'process.stdin.resume()', profile]);
  try {
    symlinkSync(`${hostname()}-${2 ** 22 + 1}`, join(profile, 'SingletonLock'));
    lockProfile(profile, browser.pid ?? 0);
    expect(getProfileHolder(profile)?.pid).toBe(browser.pid);
    lockProfile(profile, browser.pid ?? 0);
    expect(() => lockProfile(profile, other.pid ?? 0)).toThrow(ProfileInUseError);
    browser.kill('SIGKILL');
    await once(browser, 'exit');
    lockProfile(profile, other.pid ?? 0);
    expect(getProfileHolder(profile)?.pid).toBe(other.pid);
  } finally {
    browser.kill('SIGKILL');
    other.kill('SIGKILL');
  }
});
