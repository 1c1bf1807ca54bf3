import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
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
import { launchBrowser } from './test-browser.ts';

const ROOT = join(import.meta.dirname, '../..');
const SETTINGS = 'web/features/settings/messages/fr.json';

const french = (path: string): Record<string, unknown> => JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as Record<string, unknown>;
const readWord = (path: string, key: string): string => String(french(path)[key]);

/** Builds a later version of the app: its French is another. */
async function buildNext(folder: string): Promise<string> {
  const source = join(folder, 'source');
  for (const name of [
    'web',
    'shared',
    'public',
    'docs/guide',
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'tsconfig.base.json',
    'vite.config.ts',
  ])
    cpSync(join(ROOT, name), join(source, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(source, 'node_modules'));
  writeFileSync(join(source, SETTINGS), JSON.stringify({ ...french(SETTINGS), settings_appearance: 'Allure' }));
  const built = join(folder, 'next');
  await promisify(execFile)(process.execPath, [join(ROOT, 'node_modules/vite/bin/vite.js'), 'build'], {
    cwd: source,
    env: { ...process.env, PERCH_BUILD_DIR: built, PERCH_COMPRESS: 'quickly' },
  });
  return built;
}

const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true, level: 2 });
const getStoredLocale = (page: Page): Promise<string | undefined> =>
  page.evaluate(async () => (await (await caches.open('perch-locale')).match('/locale'))?.text());

verifies(
  ['app/languages', 'app/update-asks'],
  'a new version brings the spoken language along, and without a network too it is spoken before and after',
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
    await using browser = await launchBrowser({ locale: 'fr-CA' });
    let serves = true;
    const stop = async (): Promise<void> => {
      if (serves) await bridge.close();
      serves = false;
    };
    try {
      const page = await browser.page(`${bridge.url}/settings/appearance`);
      const before = readWord(SETTINGS, 'settings_appearance');
      await heading(page, before).waitFor();
      await page.evaluate(() => navigator.serviceWorker.ready.then(() => true));
      await expect.poll(() => getStoredLocale(page)).toBe('fr');

      const next = await buildNext(folder);
      rmSync(appDir, { recursive: true, maxRetries: 20, retryDelay: 50 });
      cpSync(next, appDir, { recursive: true });
      await page.reload();
      const updateNotice = page.getByText(readWord('web/app/shell/messages/dialogs/fr.json', 'shell_update_ready'));
      await updateNotice.waitFor();

      await stop();
      // The version in use keeps its messages.
      await page.reload();
      await heading(page, before).waitFor();
      await updateNotice.waitFor();
      await page.getByRole('button', { name: readWord('web/app/shell/messages/dialogs/fr.json', 'shell_update_reload') }).click();
      await heading(page, 'Allure').waitFor();
      expect(await page.evaluate(() => document.documentElement.lang)).toBe('fr');
    } finally {
      await stop();
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    }
  },
  400_000,
);
