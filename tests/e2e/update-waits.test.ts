import { appendFileSync, cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { toLinkUrl } from '../../bridge/cli/banner.ts';
import { Home } from '../../bridge/home-directory.ts';
import { openJournal } from '../../bridge/journal/open-journal.ts';
import { loadVaultKey } from '../../bridge/journal/vault-key.ts';
import { startBridge } from '../../bridge/server/start-bridge.ts';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { startUpstream } from '../test-upstream.ts';
import { launchBrowser } from './test-browser.ts';
import { waitForConnection, LINKED_STATUS } from './connection-status.ts';

const ROOT = join(import.meta.dirname, '../..');

verifies(
  'app/update-asks',
  'not while a reply is written, which the reload would cut off',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'perch-update-'));
    const appDir = join(folder, 'app');
    cpSync(join(ROOT, 'dist/app'), appDir, { recursive: true });
    const home = await Home.open({ dir: join(folder, 'home'), warn: () => {} });
    const key = await loadVaultKey(home.dir);
    await using journal = await openJournal({ dir: home.dir, vaultKey: key, log: () => {} });
    const token = await home.token();
    const log = (): void => {};
    const bridge = await startBridge({ port: 0, bind: '127.0.0.1', home, token, journal, vaultKey: key, mode: 'tab', appDir, log });
    await using upstream = await startUpstream({ models: ['endless'] });
    await using browser = await launchBrowser();
    try {
      // Linked, so that models' servers are asked by the bridge.
      const page = await browser.page(toLinkUrl(bridge.url, bridge.issueCode(60_000)));
      await waitForConnection(page, LINKED_STATUS);
      await page.goto(`${bridge.url}/models`);
      await waitForConnection(page, LINKED_STATUS);
      await page.getByRole('button', { name: 'Add provider' }).click();
      await page.getByLabel('Base URL').fill(upstream.url);
      await page.getByRole('textbox', { name: /^Name/ }).fill('Bench');
      await page.getByRole('button', { name: 'Save and test' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Make default' }).click();
      await page.goto(bridge.url);
      await page.evaluate(() => navigator.serviceWorker.ready.then(() => true));
      const composer = page.getByRole('textbox', { name: 'Message' });
      await composer.fill('Go on for ever');
      await composer.press('Enter');
      await upstream.request(1);
      const stop = page.getByRole('button', { name: 'Stop', exact: true });
      await stop.waitFor();

      // As another version of it would be: not the same bytes.
      appendFileSync(join(appDir, 'service-worker.js'), '\n// next');
      for (const packed of ['br', 'gz']) rmSync(join(appDir, `service-worker.js.${packed}`), { force: true });
      await page.evaluate(async () => void (await (await navigator.serviceWorker.ready).update()));
      await waitFor(() => page.evaluate(async () => (await navigator.serviceWorker.ready).waiting !== null), 'the new version', 30_000);
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      const asks = page.getByText('A new version is ready');
      expect(await stop.isVisible()).toBe(true);
      expect(await asks.count()).toBe(0);
      await stop.click();
      await asks.waitFor();

      // Accepted, it still waits for a chat of another tab that nothing keeps.
      const other = await browser.page(`${bridge.url}/incognito`);
      await other.getByRole('textbox', { name: 'Message' }).fill('Kept nowhere');
      await other.getByRole('textbox', { name: 'Message' }).press('Enter');
      await other.getByRole('button', { name: 'Stop', exact: true }).click();
      await other.getByRole('article', { name: 'Reply' }).getByText('Stopped').waitFor();
      await page.getByRole('button', { name: 'Reload' }).click();
      await page.getByText('when the open incognito chat ends').waitFor();
      expect(await other.getByText('Kept nowhere').isVisible()).toBe(true);
      await other.getByRole('button', { name: 'Delete chat', exact: true }).click();
      await Promise.all([
        page.waitForEvent('load'),
        other.waitForEvent('load'),
        other.getByRole('button', { name: 'Delete', exact: true }).click(),
      ]);
      await waitFor(() => page.evaluate(async () => (await navigator.serviceWorker.ready).waiting === null), 'the new version to be in');
    } finally {
      await bridge.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    }
  },
  90_000,
);
