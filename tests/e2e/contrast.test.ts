import type { Locator, Page } from 'playwright';
import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { runAxe } from './axe.ts';
import { waitForConnection, LINKED_STATUS, openLinkedPage } from './connection-status.ts';
import { connectOutside } from './outside-client.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { takeScreenshots } from './take-screenshots.ts';

/** Text that each page shows when it has loaded. */
const PAGES: readonly [path: string, sign: string][] = [
  ['/chat/main/seen', 'How do I add a model?'],
  ['/settings', 'Getting started'],
  ['/settings/appearance', 'Contrast'],
  ['/models', 'Built in'],
  ['/memory', 'old boathouse'],
  ['/sessions', 'Last used'],
  ['/schedules', 'Water the plants'],
  ['/approvals', 'rooftop'],
  ['/usage', 'CSV'],
  ['/tools', 'Available tools'],
];

const POLL_OPTIONS = { timeout: 10_000 };

const radio = (page: Page, group: string, name: string): Locator =>
  page.getByRole('radiogroup', { name: group }).getByRole('radio', { name });
const getContrastSetting = (page: Page) => page.evaluate(() => document.documentElement.dataset['contrast']);
const picture = (locator: Locator): Promise<string> => locator.screenshot().then((bytes) => bytes.toString('base64'));

describe('contrast', () => {
  const at = useGatewayAndBrowser();
  const open = async (path: string): Promise<Page> => {
    const page = await at.browser.page(at.perch.url + path);
    await waitForConnection(page, LINKED_STATUS);
    return page;
  };

  verifies('app/contrast', 'chosen, kept over a reload, told to another tab, and as the system has it', async () => {
    const [page, other] = [await openLinkedPage(at.browser, at.perch), await open('/settings/appearance')];
    await page.goto(`${at.perch.url}/settings/appearance`);
    await waitForConnection(page, LINKED_STATUS);
    expect(await getContrastSetting(page)).toBeUndefined();
    await radio(page, 'Contrast', 'High').check({ force: true });
    await expect.poll(() => getContrastSetting(other), POLL_OPTIONS).toBe('more');
    expect(await radio(other, 'Contrast', 'High').isChecked()).toBe(true);
    await page.addInitScript(() =>
      new MutationObserver((_, observer) => {
        if (!document.body) return;
        observer.disconnect();
        Object.assign(window, { first: document.documentElement.dataset['contrast'] });
      }).observe(document, { childList: true, subtree: true }),
    );
    await page.reload();
    // Before there was anything to see.
    expect(await page.evaluate(() => (window as unknown as { first?: string }).first)).toBe('more');
    await waitForConnection(page, LINKED_STATUS);
    expect(await radio(page, 'Contrast', 'High').isChecked()).toBe(true);
    await radio(page, 'Contrast', 'System').check({ force: true });
    await expect.poll(() => getContrastSetting(other), POLL_OPTIONS).toBeUndefined();
    await page.emulateMedia({ contrast: 'more' });
    await expect.poll(() => getContrastSetting(page), POLL_OPTIONS).toBe('more');
    await page.emulateMedia({ contrast: null });
    await expect.poll(() => getContrastSetting(page), POLL_OPTIONS).toBeUndefined();
    await Promise.all([page.close(), other.close()]);
  });

  verifies('app/contrast', 'text has 7:1 on every page, light and dark', async () => {
    using outside = await connectOutside(at.perch);
    const { client } = outside;
    await client.call('memory.add', { text: 'The key of the old boathouse' });
    await client.call('chat.send', { message: 'How do I add a model?', sessionId: 'seen', model: 'guide/guide' });
    await client.call('cron.add', { cron: '0 8 * * *', name: 'Water the plants', message: 'Water the plants' });
    await client.call('exec.create', { command: 'echo', args: ['rooftop'] });
    for (const [path, sign] of PAGES) {
      const page = await open(path);
      await page.getByText(sign).filter({ visible: true }).first().waitFor();
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, contrast: 'more', reducedMotion: 'reduce' });
        await expect.poll(() => getContrastSetting(page), POLL_OPTIONS).toBe('more');
        await expect
          .poll(() => runAxe(page, ['color-contrast-enhanced']), { message: `${path} ${colorScheme}`, ...POLL_OPTIONS })
          .toEqual([]);
      }
      await takeScreenshots(page, `more-${path.slice(1).replaceAll('/', '-')}`);
      await page.close();
    }
  });

  verifies('app/contrast', 'selection and progress are visible in forced colours', async () => {
    using outside = await connectOutside(at.perch);
    await outside.client.call('chat.send', { message: 'How do I add a model?', sessionId: 'seen', model: 'guide/guide' });
    const page = await open('/settings/appearance');
    await page.emulateMedia({ forcedColors: 'active', reducedMotion: 'reduce' });
    const choice = (name: string) => page.getByRole('radiogroup', { name: 'Theme' }).locator('label').filter({ hasText: name });
    const line = (locator: Locator) => locator.evaluate((element) => getComputedStyle(element).outlineStyle);
    expect([await line(choice('System')), await line(choice('Dark'))]).toEqual(['solid', 'none']);
    const before = await picture(choice('Dark'));
    await radio(page, 'Theme', 'Dark').check({ force: true });
    expect([await line(choice('System'))]).toEqual(['none']);
    expect(await picture(choice('Dark'))).not.toBe(before);
    await radio(page, 'Theme', 'System').check({ force: true });
    await page.screenshot(process.env.PERCH_SHOT ? { path: `${process.env.PERCH_SHOT}-forced-settings.png` } : {});
    const link = (path: string) => page.locator(`a[href="${path}"]`).filter({ visible: true }).first();
    expect([await line(link('/settings')), await line(link('/memory'))]).toEqual(['solid', 'none']);
    const shownBorders = await link('/memory').evaluate((seen) => {
      const style = getComputedStyle(seen);
      const ground = getComputedStyle(document.documentElement).backgroundColor;
      return ['top', 'right', 'bottom', 'left'].filter(
        (side) => style.getPropertyValue(`border-${side}-width`) !== '0px' && style.getPropertyValue(`border-${side}-color`) !== ground,
      );
    });
    expect(shownBorders).toEqual([]);
    await page.goto(`${at.perch.url}/usage`);
    await page.getByText('CSV').waitFor();
    const colours = await page
      .locator('.chart svg[role="img"]')
      .first()
      .evaluate((chart) => {
        const bar = chart.querySelector('g:not(.none) .bar');
        return bar && [getComputedStyle(bar).fill, getComputedStyle(document.documentElement).backgroundColor];
      });
    expect(new Set(colours).size).toBe(2);
    await page.screenshot(process.env.PERCH_SHOT ? { path: `${process.env.PERCH_SHOT}-forced-usage.png` } : {});
    await page.goto(`${at.perch.url}/chat/main/seen`);
    await waitForConnection(page, LINKED_STATUS);
    await page.screenshot(process.env.PERCH_SHOT ? { path: `${process.env.PERCH_SHOT}-forced-chat.png` } : {});
    await page.goto(`${at.perch.url}/models`);
    await page.getByText('Built in').waitFor();
    await page.screenshot(process.env.PERCH_SHOT ? { path: `${process.env.PERCH_SHOT}-forced-models.png` } : {});
    await page.close();
  });

  verifies('app/contrast', 'on every page forced colours show the focus, and no outline surrounds unselected items', async () => {
    using outside = await connectOutside(at.perch);
    const { client } = outside;
    await client.call('wiki.savePage', { path: 'entities/Miso', content: 'A cat.\n' });
    await client.call('memory.add', { text: 'The key of the old boathouse' });
    await client.call('chat.send', { message: 'How do I add a model?', sessionId: 'seen', model: 'guide/guide' });
    await client.call('cron.add', { cron: '0 8 * * *', name: 'Water the plants', message: 'Water the plants' });
    await client.call('exec.create', { command: 'echo', args: ['rooftop'] });
    const page = await open('/settings/appearance');
    await page.emulateMedia({ forcedColors: 'active', reducedMotion: 'reduce' });
    const lines = (selector: string) =>
      page
        .locator(selector)
        .filter({ visible: true })
        .first()
        .evaluate((element) => getComputedStyle(element).outlineStyle);
    for (const [path, sign] of [...PAGES, ['/wiki?page=entities%2FMiso.md', 'A cat.']] as const) {
      await page.goto(at.perch.url + path);
      await page.getByText(sign).filter({ visible: true }).first().waitFor();
      await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
      const [place = ''] = path.split('?');
      expect(await lines(`a[href="${place}"]`), path).toBe('solid');
      const large = await page.evaluate(() =>
        [...document.querySelectorAll('main, main *, .split')]
          .filter(
            (element) => getComputedStyle(element).outlineStyle === 'solid' && element.getBoundingClientRect().height > innerHeight / 2,
          )
          .map(({ className }) => String(className)),
      );
      expect(large, path).toEqual([]);
      // Of a page's parts, one is shown and underlined.
      const underlined = await page.locator('nav a:not([aria-current], .button)').evaluateAll(
        (links) =>
          links.filter((link) => {
            const { borderBottomWidth, borderBottomColor } = getComputedStyle(link);
            return borderBottomWidth !== '0px' && borderBottomColor !== getComputedStyle(document.documentElement).backgroundColor;
          }).length,
      );
      expect(underlined, path).toBe(0);
      if (path.startsWith('/chat')) expect(await lines('.bubble'), path).toBe('solid');
    }
    await page.close();
  });
});
