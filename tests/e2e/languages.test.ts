import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright';
import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { launchBrowser } from './test-browser.ts';
import { startPerch } from './perch-process.ts';
import { connectOutside } from './outside-client.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { takeScreenshots } from './take-screenshots.ts';

const BUILD_INFO = join(import.meta.dirname, '../../dist/app/build.json');

/** The app's message in that language. */
function getMessage(locale: string, folder: string, key: string): string {
  const path = join(import.meta.dirname, `../../web/${folder}/${locale}.json`);
  const text = (JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>)[key];
  if (typeof text !== 'string') throw new Error(`${path} has no plain ${key}`);
  return text;
}

const getLangAndDir = (page: Page): Promise<string> =>
  page.evaluate(() => `${document.documentElement.lang} ${document.documentElement.dir}`);

const field = (page: Page, locale: string) =>
  page.getByRole('textbox', { name: getMessage(locale, 'features/chat/messages', 'chat_message_field'), exact: true });

/** Pieces of what is shown, in one line, as they stand from the left to the right. */
const readVisualOrder = (shown: Locator, ...pieces: string[]): Promise<string[]> =>
  shown.evaluate((element, all) => {
    const text = document.createTreeWalker(element, NodeFilter.SHOW_TEXT).nextNode();
    const at = (piece: string): number => {
      const start = text?.textContent?.indexOf(piece) ?? -1;
      if (!text || start < 0) throw new Error(`there is no ${piece}`);
      const range = document.createRange();
      range.setStart(text, start);
      range.setEnd(text, start + piece.length);
      return range.getBoundingClientRect().left;
    };
    return all.toSorted((a, b) => at(a) - at(b));
  }, pieces);

/** Line boxes of a piece of text. */
const measureLines = (shown: Locator, piece: string): Promise<{ left: number; right: number }[]> =>
  shown.evaluate((element, wanted) => {
    const text = document.createTreeWalker(element, NodeFilter.SHOW_TEXT).nextNode();
    const start = text?.textContent?.indexOf(wanted) ?? -1;
    if (!text || start < 0) throw new Error(`there is no ${wanted}`);
    const range = document.createRange();
    range.setStart(text, start);
    range.setEnd(text, start + wanted.length);
    // The brackets and numbers of a line have boxes of their own.
    const lines = new Map<number, { left: number; right: number }>();
    for (const { top, left, right } of range.getClientRects()) {
      const line = lines.get(Math.round(top));
      lines.set(Math.round(top), { left: Math.min(left, line?.left ?? left), right: Math.max(right, line?.right ?? right) });
    }
    return [...lines.values()];
  }, piece);

/** From the settings, with the words of the language that they are in. */
async function chooseLanguage(page: Page, now: string, tag: string): Promise<void> {
  const loaded = page.waitForEvent('load');
  await page.getByRole('combobox', { name: getMessage(now, 'features/settings/messages', 'settings_language') }).selectOption(tag);
  await loaded;
}

describe('languages', () => {
  const at = useGatewayAndBrowser();

  verifies('app/languages', 'as the browser has it, where the app speaks one of its languages', async () => {
    await using browser = await launchBrowser({ locale: 'de-AT' });
    const page = await browser.page();
    const requested: string[] = [];
    page.on('request', (request) => requested.push(new URL(request.url()).pathname.slice(1)));
    await page.goto(at.perch.linkUrl);
    await field(page, 'de').waitFor();
    const { locales } = JSON.parse(readFileSync(BUILD_INFO, 'utf8')) as { locales: Record<string, string[]> };
    // One file for the first page, and one that the chat loads for its later parts.
    const translations = requested.filter((path) => Object.values(locales).flat().includes(path));
    expect(locales['de']).toEqual(expect.arrayContaining(translations));
    expect([1, 2]).toContain(translations.length);
    expect(await getLangAndDir(page)).toBe('de ltr');
    await page.getByRole('button', { name: getMessage('de', 'app/state/messages', 'model_words_guide') }).waitFor();
    expect(browser.complaints).toEqual([]);
  });

  verifies('app/languages', 'program output keeps its order on a right-to-left page', async () => {
    await using browser = await launchBrowser({ locale: 'ar' });
    const page = await browser.page(await at.perch.open());
    await page.getByRole('button', { name: getMessage('ar', 'app/shell/messages', 'shell_vault_synced') }).waitFor();
    await page.goto(`${at.perch.url}/logs`);
    const parts = page.getByRole('option').filter({ hasText: '{"' }).first().locator('bdi');
    await parts.last().waitFor();
    const [message = 0, fields = 0] = await parts.evaluateAll((all) => all.map((each) => each.getBoundingClientRect().left));
    expect(message).toBeLessThan(fields);
    await page.goto(`${at.perch.url}/devices`);
    const path = page.getByText(at.perch.home);
    await path.waitFor();
    expect(await readVisualOrder(path, '/', at.perch.home.slice(1, 3))).toEqual(['/', at.perch.home.slice(1, 3)]);
    // A sentence in which a setting is called as its field is.
    using outside = await connectOutside(at.perch);
    await outside.client.call('config.patch', { patch: { channels: { x: { enabled: true, bearerToken: 'no token' } } } });
    await page.goto(`${at.perch.url}/channels`);
    const sentence = page.getByText('is not a valid token');
    await sentence.waitFor();
    // The label is read from the right, and ends with "(Bearer)".
    const [word = ''] = getMessage('ar', 'features/channels/messages', 'channels_field_bearer_token').split(' ');
    const order = ['“', 'Bearer', word, '”', 'is not a valid token'];
    const shown = (): Promise<string[]> => readVisualOrder(sentence, '“', word, 'Bearer', '”', 'is not a valid token');
    // Text directions are applied shortly after the sentence appears.
    await waitFor(async () => (await shown()).join() === order.join(), 'the order of the sentence');
  });

  verifies(
    'app/languages',
    'a name of the person’s own runs as its letters do, and stands where the others of its list begin',
    async () => {
      await using browser = await launchBrowser();
      const page = await browser.page(await at.perch.open());
      await page.getByRole('button', { name: getMessage('en', 'app/shell/messages', 'shell_vault_synced') }).waitFor();
      using outside = await connectOutside(at.perch);
      const title = 'رحلة إلى البحيرة في الصباح الباكر مع الأصدقاء والطيور والكتب والخبز والشاي والقهوة (2026)';
      await outside.client.call('drawings.create', { title, width: 40, height: 40 });
      await outside.client.call('cron.add', { cron: '0 7 * * *', message: 'Hello', name: title, enabled: false });
      await page.setViewportSize({ width: 360, height: 800 });
      await page.goto(`${at.perch.url}/annotate`);
      // Text that does not fit is truncated at its end.
      const card = page.locator('.title').getByText(title);
      await card.waitFor();
      const cut = await card.boundingBox();
      const [first] = await measureLines(card, title.slice(0, 4));
      expect(first?.right).toBeLessThanOrEqual((cut?.x ?? 0) + (cut?.width ?? 0));
      expect(first?.left).toBeGreaterThan((cut?.x ?? 0) + (cut?.width ?? 0) / 2);
      // A name of several lines begins each beside the box that switches it.
      await page.goto(`${at.perch.url}/schedules`);
      const name = page.locator('strong').getByText(title);
      await name.waitFor();
      const box = await name.boundingBox();
      const lines = await measureLines(name, title);
      expect(lines.length).toBeGreaterThan(1);
      for (const { left } of lines) expect(left).toBeCloseTo(box?.x ?? 0, 0);
      // A file to send is called as it is.
      await page.goto(at.perch.url);
      await field(page, 'en').waitFor();
      await page
        .locator('input[type=file]')
        .first()
        .setInputFiles({ name: 'تقرير (نهائي).txt', mimeType: 'text/plain', buffer: Buffer.from('x') });
      const file = page.locator('.name').getByText('تقرير (نهائي).txt');
      await file.waitFor();
      expect(await readVisualOrder(file, 'تقرير', 'نهائي', 'txt')).toEqual(['txt', 'نهائي', 'تقرير']);
      expect(browser.complaints).toEqual([]);
    },
  );

  verifies('app/languages', 'as it is chosen, from right to left too, with numbers and plurals of its own, and nothing lost', async () => {
    const page = await at.browser.page(at.perch.url);
    await field(page, 'en').waitFor();
    await field(page, 'en').fill('Words of a draft');
    await page.goto(`${at.perch.url}/settings#appearance`);
    await chooseLanguage(page, 'en', 'ar');
    await page
      .getByRole('heading', { name: getMessage('ar', 'features/settings/messages', 'settings_appearance') })
      .first()
      .waitFor();
    expect(await getLangAndDir(page)).toBe('ar rtl');
    // Its words stand where what is written will.
    await page.keyboard.press('Control+k');
    const search = page.getByRole('combobox', { name: getMessage('ar', 'features/palette/messages', 'palette_placeholder') });
    const direction = (): Promise<string> => search.evaluate((field) => getComputedStyle(field).direction);
    expect(await direction()).toBe('rtl');
    await search.fill('sails');
    expect(await direction()).toBe('ltr');
    await search.fill('');
    await takeScreenshots(page, 'ar-palette');
    await page.keyboard.press('Escape');
    await search.waitFor({ state: 'detached' });
    await takeScreenshots(page, 'ar-settings');
    await page.goto(at.perch.url);
    await field(page, 'ar').waitFor();
    expect(await field(page, 'ar').inputValue()).toBe('Words of a draft');
    await field(page, 'ar').fill('Hoist the sails');
    await field(page, 'ar').press('Enter');
    await page.getByRole('article', { name: getMessage('ar', 'features/chat/messages/reply', 'reply_label') }).waitFor();
    await takeScreenshots(page, 'ar-chat');
    const [sidebar, main] = await Promise.all([page.locator('aside').boundingBox(), page.locator('main').boundingBox()]);
    expect(sidebar?.x).toBeGreaterThan(main?.x ?? Infinity);
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });

  verifies('app/languages', 'without a network, and through a change of language', async () => {
    await using perch = await startPerch();
    await using browser = await launchBrowser();
    const page = await browser.page(perch.url);
    await field(page, 'en').waitFor();
    await page.evaluate(() => navigator.serviceWorker.ready);
    await page.goto(`${perch.url}/settings/appearance`);
    await chooseLanguage(page, 'en', 'fr');
    const getCachedLocale = () => page.evaluate(async () => (await (await caches.open('perch-locale')).match('/locale'))?.text());
    await waitFor(async () => (await getCachedLocale()) === 'fr', 'the words to be kept');
    await perch.kill('SIGKILL');
    await page.reload();
    await page
      .getByRole('heading', { name: getMessage('fr', 'features/settings/messages', 'settings_appearance') })
      .first()
      .waitFor();
    await page.goto(perch.url);
    await field(page, 'fr').waitFor();
    // A language that was not cached is unavailable offline: the app falls back to English.
    await page.goto(`${perch.url}/settings/appearance`);
    await chooseLanguage(page, 'fr', 'ja');
    await page
      .getByRole('heading', { name: getMessage('en', 'features/settings/messages', 'settings_appearance') })
      .first()
      .waitFor();
    await perch.restart();
    await page.reload();
    await page
      .getByRole('heading', { name: getMessage('ja', 'features/settings/messages', 'settings_appearance') })
      .first()
      .waitFor();
    await page.close();
  });
});
