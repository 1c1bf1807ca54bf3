import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright';
import { expect } from 'vitest';
import { Home } from '../../bridge/home-directory.ts';
import { openJournal } from '../../bridge/journal/open-journal.ts';
import { loadVaultKey } from '../../bridge/journal/vault-key.ts';
import { startBridge } from '../../bridge/server/start-bridge.ts';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { launchBrowser } from './test-browser.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Builds the app under another id, as a later version of it would be. */
async function buildNext(into: string): Promise<void> {
  await promisify(execFile)(process.execPath, [join(ROOT, 'node_modules/vite/bin/vite.js'), 'build'], {
    cwd: ROOT,
    env: { ...process.env, PERCH_BUILD_ID: 'next', PERCH_BUILD_DIR: into, PERCH_COMPRESS: 'quickly' },
  });
}

const getBuildId = (page: Page): Promise<string> =>
  page.evaluate(async () => ((await (await fetch('/build.json', { cache: 'no-store' })).json()) as { build: string }).build);

verifies(
  ['host/new-build', 'host/one-writer', 'app/update-asks'],
  'the app is replaced under an open tab',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'perch-update-'));
    const appDir = join(folder, 'app');
    cpSync(join(ROOT, 'dist/app'), appDir, { recursive: true });
    const home = await Home.open({ dir: join(folder, 'home'), warn: () => {} });
    const key = await loadVaultKey(home.dir);
    await using journal = await openJournal({ dir: home.dir, vaultKey: key, log: () => {} });
    const token = await home.token();
    const bridge = await startBridge({
      port: 0,
      bind: '127.0.0.1',
      home,
      token,
      journal,
      vaultKey: key,
      mode: 'tab',
      appDir,
      log: () => {},
    });
    await using browser = await launchBrowser();
    try {
      const old = await browser.page(bridge.url);
      const composer = (page: Page) => page.getByRole('textbox', { name: 'Message' });
      await composer(old).fill('What can you do?');
      await composer(old).press('Enter');
      await old.getByRole('article', { name: 'Reply' }).first().waitFor();
      await waitFor(async () => (await old.getByRole('button', { name: 'Stop' }).count()) === 0);
      await old.evaluate(() => navigator.serviceWorker.ready.then(() => true));
      const before = await getBuildId(old);

      await buildNext(join(folder, 'next'));
      rmSync(appDir, { recursive: true, maxRetries: 20, retryDelay: 50 });
      cpSync(join(folder, 'next'), appDir, { recursive: true });

      // The open tab goes on with what it has, and is asked before it changes, once somebody comes back to it.
      await old.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
      await old.getByText('A new version is ready').waitFor();
      await old.reload();
      await old.getByText('A new version is ready').waitFor();
      expect(await old.evaluate(() => performance.getEntriesByType('resource').some(({ name }) => name.includes('/_app/')))).toBe(true);
      const second = await browser.page(bridge.url);
      await second.getByText('What can you do?').first().waitFor();
      // Chromium may not heed the first ask, where it is just stopping the service worker in use.
      await old.evaluate(() => {
        const { prototype } = ServiceWorker;
        const { postMessage } = prototype;
        prototype.postMessage = () => (prototype.postMessage = postMessage);
      });
      await old.getByRole('button', { name: 'Reload' }).click();
      // All tabs come back on the new build, with one worker that owns the data, and nothing lost.
      await waitFor(
        async () => (await listWorkers(browser)).length === 1 && (await listWorkers(browser))[0]?.title.includes('next') === true,
        'the new worker alone',
        40_000,
      );
      expect(before).not.toBe('next');
      expect(await getBuildId(second)).toBe('next');
      await old.getByText('What can you do?').first().waitFor();
      await second.getByText('What can you do?').first().waitFor();
      await composer(second).fill('And where is my data kept?');
      await composer(second).press('Enter');
      await second
        .getByRole('article', { name: 'Reply' })
        .last()
        .getByText(/browser/i)
        .first()
        .waitFor();
    } finally {
      await bridge.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    }
  },
  150_000,
);

async function listWorkers(browser: Awaited<ReturnType<typeof launchBrowser>>): Promise<{ title: string }[]> {
  const session = await browser.devtools();
  const { targetInfos } = await session.send('Target.getTargets', { filter: [{ type: 'shared_worker' }] });
  await session.detach();
  return targetInfos;
}
