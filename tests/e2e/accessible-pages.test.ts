import { expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { runAxe } from './axe.ts';
import { launchBrowser } from './test-browser.ts';
import { startPerch } from './perch-process.ts';

/** Pages without a link in the sidebar's groups. */
const OTHER_PAGES = ['/', '/settings', '/devices', '/compare', '/incognito'];

verifies(
  'app/accessible',
  'axe finds nothing on any page with data in it, light and dark',
  async () => {
    await using perch = await startPerch();
    await using browser = await launchBrowser();
    const page = await browser.page(`${perch.url}/?demo`);
    await page.getByText('This is a demo.').waitFor();
    const links = page.locator('nav details a[href^="/"]');
    const paths = [
      ...OTHER_PAGES,
      ...(await links.evaluateAll((all) => all.map((link) => new URL((link as HTMLAnchorElement).href).pathname))),
    ];
    expect(paths.length).toBeGreaterThan(20);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      for (const path of paths) {
        await page.goto(`${perch.url}${path}?demo`);
        await page.getByText('This is a demo.').waitFor();
        // Content that loads later is also checked for its heading order, and colours fade in.
        await expect.poll(() => runAxe(page), { message: `${path} ${colorScheme}` }).toEqual([]);
      }
    }
    expect(browser.complaints).toEqual([]);
  },
  300_000,
);
