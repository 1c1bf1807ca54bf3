import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright';
import { describe, expect, test } from 'vitest';
import { verifies } from '../requirements.ts';
import { hasXvfb, startScreen } from '../support/virtual-screen.ts';
import { launchBrowser } from './test-browser.ts';
import { waitForConnection } from './connection-status.ts';
import { startPerch } from './perch-process.ts';
import { connectOutside } from './outside-client.ts';
import { readPixels } from './test-pictures.ts';

/** Exports the drawing. */
async function exportDrawing(page: Page): Promise<Buffer> {
  await page.getByRole('button', { name: 'Export' }).click();
  const [got] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: 'PNG', exact: true }).click()]);
  return readFileSync(await got.path());
}

describe('captures by the bridge', () => {
  if (!hasXvfb) test.skip('annotate/bridge: Xvfb is not installed here', () => {});
  else
    verifies('annotate/bridge', 'the desktop and the agent’s browser open on the canvas; if one is missing, the page says so', async () => {
      await using parts = new AsyncDisposableStack();
      const screen = await startScreen();
      parts.defer(() => void screen.process.kill('SIGKILL'));
      const site = createServer((_request, response) =>
        response.writeHead(200, { 'content-type': 'text/html' }).end('<title>Blue</title><body style="background:#0000ff">'),
      ).listen(0, '127.0.0.1');
      await once(site, 'listening');
      parts.defer(() => void site.close());
      const siteAddress = `127.0.0.1:${(site.address() as AddressInfo).port}`;

      // The tab stays a replica, so that nothing moves while it is looked at.
      const perch = parts.use(await startPerch({ host: 'headless', env: { DISPLAY: screen.display } }));
      const browser = parts.use(await launchBrowser());
      const page = await browser.page(perch.linkUrl);
      await waitForConnection(page, 'Connected');
      const outside = parts.use(await connectOutside(perch));
      await outside.client.call('config.set', { key: 'browser.allow', value: [siteAddress] });

      await page.goto(`${perch.url}/annotate`);
      await page.getByRole('button', { name: 'Capture desktop' }).click();
      await page.getByRole('textbox', { name: 'Drawing title' }).waitFor();
      expect(await page.getByLabel('Drawing title').inputValue()).toBe('Desktop');
      expect(await readPixels(page, await exportDrawing(page), [[160, 100]])).toEqual({ size: [320, 200], colors: ['#ffffff'] });

      await outside.client.call('browser.open', { url: `http://${siteAddress}` });
      await page.goto(`${perch.url}/annotate`);
      await page.getByRole('button', { name: 'Capture agent’s browser' }).click();
      await page.getByRole('textbox', { name: 'Drawing title' }).waitFor();
      expect(await readPixels(page, await exportDrawing(page), [[640, 400]])).toEqual({ size: [1280, 800], colors: ['#0000ff'] });

      const screenExited = once(screen.process, 'exit');
      screen.process.kill('SIGKILL');
      await screenExited;
      await page.goto(`${perch.url}/annotate`);
      await page.getByRole('button', { name: 'Capture desktop' }).click();
      await page
        .getByRole('alert')
        .getByText(/couldn’t take a screenshot/)
        .waitFor();
      expect(browser.complaints).toEqual([]);
    });
});
