import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildGuide } from '../../docs/site/build.ts';
import { runAxe } from './axe.ts';
import { launchBrowser } from './test-browser.ts';
import { startStaticSite, type StaticSite } from './static-site.ts';

const parts = new AsyncDisposableStack();
let site: StaticSite;
let page: Page;

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'perch-guide-'));
  parts.defer(() => rmSync(folder, { recursive: true, force: true }));
  await buildGuide(folder);
  site = parts.use(await startStaticSite(folder, '/any/where/'));
  page = await parts.use(await launchBrowser({ args: site.browserArgs })).context.newPage();
});
afterAll(() => parts.disposeAsync());

test('is read, searched and switched between themes under any path, and asks no other host', async () => {
  await page.goto(site.url);
  await page.getByRole('heading', { level: 1, name: 'Getting started' }).waitFor();
  await page.keyboard.press('/');
  const search = page.getByRole('searchbox', { name: 'Search the guide' });
  await search.fill('olama');
  await page
    .getByRole('link', { name: /Ollama/ })
    .first()
    .waitFor();
  await search.press('Enter');
  await page.waitForURL(/\/any\/where\/models\.html#/);

  await page.getByRole('button', { name: 'Switch theme' }).click();
  const theme = (): Promise<string | undefined> => page.evaluate(() => document.documentElement.dataset['theme']);
  expect(await theme()).toBe('dark');
  await page.getByRole('link', { name: /^Next/ }).click();
  await page.getByRole('heading', { level: 1, name: 'Chat' }).waitFor();
  expect(await theme()).toBe('dark');

  await page.keyboard.press('Control+k');
  await search.fill('zxqvw');
  await page.getByText('No results for “zxqvw”').waitFor();
  expect(site.foreignRequests).toEqual([]);
});

test('is accessible, in both themes and on a phone', async () => {
  for (const [theme, width] of [
    ['light', 1280],
    ['dark', 390],
  ] as const) {
    await page.setViewportSize({ width, height: 844 });
    await page.evaluate((chosen) => localStorage.setItem('theme', chosen), theme);
    for (const name of ['models', 'api']) {
      await page.goto(`${site.url}${name}.html`);
      await page.waitForFunction((wide) => innerWidth === wide, width);
      expect(await runAxe(page), `${name}, ${theme}`).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth), name).toBe(width);
    }
  }
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('link', { name: 'Troubleshooting' }).click();
  await page.getByRole('heading', { level: 1, name: 'Troubleshooting' }).waitFor();
});
