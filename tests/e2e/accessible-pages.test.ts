import { expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { runAxe } from './axe.ts';
import { launchBrowser } from './test-browser.ts';
import { startPerch } from './perch-process.ts';

/** Pages that are no destination, and no section of the settings. */
const OTHER_PAGES = ['/', '/sessions', '/prompts', '/compare', '/incognito'];

verifies(
  'app/accessible',
  'axe finds nothing on any page with data in it, light and dark',
  async () => {
    await using perch = await startPerch();
    await using browser = await launchBrowser();
    const page = await browser.page(`${perch.url}/?demo`);
    await page.getByText('This is a demo.').waitFor();
    const paths = new Set(OTHER_PAGES);
    const addLinks = async (nav: string): Promise<void> => {
      const links = page.getByRole('navigation', { name: nav }).locator('a[href^="/"]:not([href^="/chat/"])');
      await links.first().waitFor();
      for (const path of await links.evaluateAll((all) => all.map((link) => new URL((link as HTMLAnchorElement).href).pathname)))
        paths.add(path);
    };
    await addLinks('Chats');
    for (const [path, nav] of [
      ['/memory', 'Knowledge'],
      ['/schedules', 'Automations'],
      ['/settings', 'Settings'],
      ['/settings/advanced', 'Advanced'],
    ] as const) {
      await page.goto(`${perch.url}${path}?demo`);
      await addLinks(nav);
    }
    expect(paths.size).toBeGreaterThan(29);
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
