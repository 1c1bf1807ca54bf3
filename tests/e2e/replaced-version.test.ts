import { cpSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { startTestBridge } from '../../bridge/server/tests/test-bridge.ts';
import { verifies } from '../requirements.ts';
import { launchBrowser } from './test-browser.ts';

const BUILT = join(import.meta.dirname, '../../dist/app');

verifies('app/update-asks', 'a missing chunk of an old version: the page says so, and reloads into the new one', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'perch-replaced-'));
  const appDir = join(folder, 'app');
  cpSync(BUILT, appDir, { recursive: true });
  // Without a service worker, as on a first visit: the page has only what it has loaded.
  for (const end of ['', '.br', '.gz']) rmSync(join(appDir, `service-worker.js${end}`), { force: true });
  try {
    await using bridge = await startTestBridge({ appDir });
    await using browser = await launchBrowser();
    const page = await browser.page();
    await page.addInitScript(() => {
      const listen = window.addEventListener;
      window.addEventListener = (...of: Parameters<typeof listen>) => {
        listen.apply(window, of);
        if (of[0] === 'vite:preloadError') Object.assign(window, { tells: true });
      };
    });
    await page.goto(bridge.url);
    const composer = page.getByRole('textbox', { name: 'Message' });
    await composer.waitFor();
    await page.waitForFunction(() => 'tells' in window);
    // The sidebar loads this part itself.
    await page.getByRole('button', { name: 'New project' }).waitFor();
    const parts = join(appDir, '_app/immutable');
    renameSync(parts, join(folder, 'gone'));
    const shortcuts = (): Promise<void> => page.keyboard.press('Control+/');
    const reloadNotice = page.getByText('A new version is ready');
    // If the version is unchanged something else is wrong, and a reload would not help.
    await shortcuts();
    const missing = page.getByText('Couldn’t load this part of the app.');
    await missing.waitFor();
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      const isCentered = await missing.evaluate((text) => {
        const { left, top } = text.getBoundingClientRect();
        return text.contains(document.elementFromPoint(left + 5, top + 5));
      });
      expect(isCentered, `in sight, ${width}`).toBe(true);
    }
    expect(await reloadNotice.count()).toBe(0);
    await page.getByRole('alert').filter({ has: missing }).getByRole('button', { name: 'Close' }).click();
    await missing.waitFor({ state: 'detached' });

    for (const end of ['.br', '.gz']) rmSync(join(appDir, `_app/version.json${end}`), { force: true });
    writeFileSync(join(appDir, '_app/version.json'), '{"version":"next"}');
    await shortcuts();
    await reloadNotice.waitFor();
    cpSync(BUILT, appDir, { recursive: true });
    await page.evaluate(() => Object.assign(window, { before: true }));
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.waitForFunction(() => !('before' in window));
    await composer.waitFor();
    await shortcuts();
    await page.getByRole('dialog').waitFor();
    expect(await reloadNotice.count()).toBe(0);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }
});
