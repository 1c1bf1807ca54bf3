import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { OffspringProcesses } from '../../tests/support/offspring-processes.ts';
import { findHostBrowser } from './find-browser.ts';
import { ManagedChromium, type ManagedChromiumOptions } from './managed-chromium.ts';
import { type ProfileHolder, getProfileHolder } from './browser-profile.ts';
import { StubHostPage, waitUntil } from './tests/stub-host-page.ts';

const executable = (await findHostBrowser()) ?? '';
const SECRET = 'a-secret-that-must-not-show';

// Reads processes from /proc.
describe.runIf(process.platform === 'linux')('the managed Chromium', () => {
  let folder: string;
  let standIn: StubHostPage;
  let lines: string[];
  let managed: ManagedChromium | null;
  let offspring: OffspringProcesses;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'perch-managed-'));
    standIn = await StubHostPage.listen();
    lines = [];
    managed = null;
    offspring = new OffspringProcesses(folder);
  });
  afterEach(async () => {
    await managed?.close();
    standIn.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  });

  const options = (changes: Partial<ManagedChromiumOptions> = {}): ManagedChromiumOptions => ({
    executable,
    profile: join(folder, 'profile'),
    origin: standIn.origin,
    credential: () => ({ id: 'headless', secret: SECRET }),
    log: (line) => lines.push(line),
    backOff: { first: 50, max: 400 },
    ...changes,
  });
  /** The browser that holds the profile. Never process id 0, which a signal would take for this process and its group. */
  const holder = (): ProfileHolder => getProfileHolder(join(folder, 'profile')) ?? expect.fail('nothing holds the profile');
  // A headless shell's helpers do not have the profile in their arguments.
  const processes = (kind?: string): { pid: number; args: string[] }[] =>
    offspring.running().filter(({ args }) => kind === undefined || args.includes(`--type=${kind}`));

  verifies(
    ['headless/credential', 'secrets/argv-and-logs'],
    'it attaches under a strict policy, its secret in no argument and no log',
    async () => {
      managed = await ManagedChromium.start(options());
      expect(await standIn.attachments(1)).toEqual([{ id: 'headless', secret: SECRET }]);
      const running = processes();
      expect(running.length).toBeGreaterThan(1);
      expect(running.flatMap(({ args }) => args).filter((arg) => arg.includes(SECRET) || arg.includes('--remote-debugging-port'))).toEqual(
        [],
      );
      expect(lines.join('\n')).not.toContain(SECRET);
      await managed.close();
      expect(processes()).toEqual([]);
    },
  );

  verifies(
    'headless/restarts',
    'when the page reloads, crashes, and when the browser dies, the host attaches again',
    async () => {
      standIn.answers.push('reload');
      managed = await ManagedChromium.start(options());
      await standIn.attachments(2);

      for (const { pid } of processes('renderer')) process.kill(pid, 'SIGKILL');
      await standIn.attachments(3);
      expect(lines.join('\n')).toContain('The host page crashed');

      const browser = holder();
      process.kill(browser.pid, 'SIGKILL');
      await standIn.attachments(4);
      expect(getProfileHolder(join(folder, 'profile'))?.pid).not.toBe(browser.pid);

      await managed.restart('the host does not answer');
      await standIn.attachments(5);
    },
    40_000,
  );

  verifies('headless/gone', 'after a SIGKILL of its parent no process of it is left', async () => {
    const parent = spawn(
      process.execPath,
      [join(import.meta.dirname, 'tests/parent.ts'), executable, join(folder, 'profile'), standIn.origin],
      {
        stdio: 'ignore',
      },
    );
    await standIn.attachments(1);
    expect(processes().length).toBeGreaterThan(2);
    parent.kill('SIGKILL');
    await waitUntil(() => processes().length === 0);
  });

  test('a profile in use is a clear error that names the holder, and the holder goes on', async () => {
    managed = await ManagedChromium.start(options());
    await standIn.attachments(1);
    const { pid } = holder();
    await expect(ManagedChromium.start(options({ profileWaitMs: 100 }))).rejects.toThrow(
      `in use by another gateway (browser process ${pid})`,
    );
    expect(holder().pid).toBe(pid);
  });

  test('a browser that does not start says why, in one line', async () => {
    const broken = join(folder, 'broken');
    writeFileSync(broken, '#!/bin/sh\necho "broken: error while loading shared libraries: libnss3.so" >&2\nexit 127\n');
    chmodSync(broken, 0o755);
    const error = await ManagedChromium.start(options({ executable: broken })).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(Error);
    expect(String(error)).toMatch(/Couldn’t start the background browser .*libnss3/);
    expect(String(error)).not.toContain('\n');
  });

  test('closing while it starts again leaves nothing behind', async () => {
    managed = await ManagedChromium.start(options());
    await standIn.attachments(1);
    process.kill(holder().pid, 'SIGKILL');
    await waitUntil(() => lines.some((line) => line.includes('Restarting it')));
    await managed.close();
    await waitUntil(() => processes().length === 0);
  });
});
