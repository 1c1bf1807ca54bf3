import type { Locator, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { startUpstream, type Upstream, UPSTREAM_TEXT } from '../test-upstream.ts';
import { describeFocus, findLowContrast, listControls, findOverflow, tabThroughPage, tabTo } from './accessibility.ts';
import { runAxe } from './axe.ts';
import { launchBrowser, type TestBrowser } from './test-browser.ts';
import { type Perch, startPerch } from './perch-process.ts';
import { waitForConnection } from './connection-status.ts';
import { addProvider, connectOutside } from './outside-client.ts';
import { getPaletteOptions, openPalette } from './palette.ts';
import { openVaultMenu } from './vault-menu.ts';

const composer = (page: Page) => page.getByRole('textbox', { name: 'Message' });
const replies = (page: Page) => page.getByRole('article', { name: 'Reply' });
const stop = (page: Page) => page.getByRole('button', { name: 'Stop' });
const chats = (page: Page) => page.getByRole('navigation', { name: 'Chats' });
const text = UPSTREAM_TEXT.join('');

/** Connected, and with nothing on its way any more. */
async function waitUntilReady(page: Page): Promise<void> {
  await waitForConnection(page, 'Connected');
  if (page.url().endsWith('/models')) await page.getByText('Built in').waitFor();
}

/** Holds once it does; what it found is in the failure. */
async function expectNoProblems(findProblems: () => Promise<string[]>, what: string): Promise<void> {
  let found: string[] = [];
  await waitFor(async () => (found = await findProblems()).length === 0, what, 3000).catch(() => expect(found, what).toEqual([]));
}

/** Waits until the page shows the memories. */
const waitForMemories = (page: Page): Promise<void> =>
  page
    .getByText(/kayak|French|4 memories/)
    .filter({ visible: true })
    .first()
    .waitFor();

/** A page beside the chats, which has no model to choose. */
const hasNoModelPicker = (path: string): boolean => path.startsWith('/settings') || path === '/models' || path.startsWith('/memory');

/** Sections of the settings that are no page of their own. */
const SETTINGS = ['appearance', 'memory', 'voice', 'privacy', 'keyboard', 'advanced'].map((section) => `/settings/${section}`);

const isOnTop = (element: Element): boolean => {
  const { x, y, width, height } = element.getBoundingClientRect();
  return element.contains(document.elementFromPoint(x + width / 2, y + height / 2));
};

describe('accessible', () => {
  let perch: Perch;
  let browser: TestBrowser;
  let upstream: Upstream;
  /** A chat with an answer, code and a long word in it. */
  let chat: string;

  beforeAll(async () => {
    upstream = await startUpstream({ models: ['normal', 'endless'] });
    // The tab stays a replica, so that nothing moves while it is looked at.
    perch = await startPerch({ host: 'headless' });
    browser = await launchBrowser();
    using outside = await connectOutside(perch);
    await addProvider(outside.client, upstream.url);
    await outside.client.call('chat.send', {
      message: `How do I add a model? ${'unbreakable'.repeat(20)}`,
      sessionId: 'seen',
      model: 'guide/guide',
    });
    chat = `${perch.url}/chat/main/seen`;
    for (const each of ['kayak', 'tent', 'stove'])
      await outside.client.call('memory.add', { text: `The ${each} is in the ${'long'.repeat(30)} attic` });
    await outside.client.call('memory.setPreference', { key: 'language', value: 'Answer in French' });
    const page = await browser.page(perch.linkUrl);
    await waitUntilReady(page);
    await page.close();
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await perch?.[Symbol.asyncDispose]();
    await upstream?.close();
  });

  const open = async (path: string, view: { width?: number; colorScheme?: 'light' | 'dark' } = {}): Promise<Page> => {
    const page = await browser.page();
    await page.setViewportSize({ width: view.width ?? 1280, height: 800 });
    await page.emulateMedia({ colorScheme: view.colorScheme ?? 'light' });
    await page.goto(new URL(path, perch.url).href);
    await waitUntilReady(page);
    return page;
  };

  verifies('app/accessible', 'all that can be operated has a name, is come to by Tab, and shows it', async () => {
    for (const [path, least] of [
      ['/', 8],
      [chat, 10],
      ['/settings', 24],
      ...SETTINGS.map((path) => [path, 20] as const),
      ['/models', 16],
      ['/memory', 20],
      ['/memory#preferences', 14],
      ['/memory#days', 12],
    ] as const) {
      const page = await open(path);
      if (path.startsWith('/memory')) await waitForMemories(page);
      if (path === chat) await replies(page).first().waitFor();
      const all = await listControls(page);
      expect(all.length, path).toBeGreaterThanOrEqual(least);
      expect(all.filter((each) => each.endsWith('""'))).toEqual([]);
      const { reached, unfocused, withoutFocusRing } = await tabThroughPage(page);
      expect(reached.length, path).toBeGreaterThanOrEqual(least - 2);
      expect({ path, missed: unfocused, unseen: withoutFocusRing }).toEqual({ path, missed: [], unseen: [] });
      // Also checks dialogs over the page.
      for (const [key, dialog] of hasNoModelPicker(path)
        ? ([['Control+/', 'Keyboard']] as const)
        : ([['Control+Shift+M', 'Choose a model']] as const)) {
        await page.keyboard.press(key);
        await page.getByRole('dialog', { name: dialog }).waitFor();
        expect((await listControls(page)).filter((each) => each.endsWith('""'))).toEqual([]);
      }
      await page.close();
    }
  });

  verifies('app/accessible', 'by keyboard alone: choose a model, send, stop, start a new chat, and go back', async () => {
    const page = await open('/');
    const { keyboard } = page;
    const picker = page.getByRole('button', { name: /^Model:/ });
    const choose = async (name: string): Promise<void> => {
      await page.getByRole('combobox', { name: 'Search models' }).waitFor();
      await waitFor(async () => (await describeFocus(page)) === 'Search models');
      await keyboard.type(name);
      await page.getByRole('option', { name }).waitFor();
      await keyboard.press('Enter');
      await picker.filter({ hasText: name }).waitFor();
      // The focus is back where it was.
      expect(await describeFocus(page)).toMatch(/^Model:/);
    };
    await tabTo(page, /^Model:/);
    await keyboard.press('Enter');
    await choose('endless');
    await tabTo(page, 'Message');
    await keyboard.type('two');
    await keyboard.press('Shift+Enter');
    await keyboard.type('lines');
    await keyboard.press('Enter');
    await page.waitForURL(/\/chat\//);
    await replies(page).getByText(/\w{3}/).first().waitFor();
    expect(await describeFocus(page)).toBe('Message');
    await tabTo(page, 'Stop');
    await keyboard.press('Enter');
    await stop(page).waitFor({ state: 'detached' });
    await page
      .getByText(/stopped/i)
      .first()
      .waitFor();
    // The button with the keyboard on it is gone: the keyboard is not lost with it.
    expect(await describeFocus(page)).toBe('Message');
    await keyboard.type('more');
    await keyboard.press('Enter');
    await stop(page).waitFor();
    await keyboard.press('Escape');
    await stop(page).waitFor({ state: 'detached' });

    await keyboard.press('Control+Shift+M');
    await choose('normal');
    await tabTo(page, 'Message');
    await keyboard.type('again');
    // Not only by Enter in the field.
    await tabTo(page, 'Send');
    await keyboard.press('Space');
    await replies(page).getByText(text).waitFor();
    const first = page.url();

    await tabTo(page, /^New chat/);
    await keyboard.press('Enter');
    await page.waitForURL(`${perch.url}/`);
    // Left before its end was told, it may be marked as unread.
    await tabTo(page, /^two/);
    await keyboard.press('Enter');
    await page.waitForURL(first);
    await keyboard.press('Control+Shift+O');
    await page.waitForURL(`${perch.url}/`);

    // Esc closes the picker, changes nothing, and gives the keyboard back.
    const before = await picker.innerText();
    await tabTo(page, /^Model:/);
    await keyboard.press('Enter');
    await page.getByRole('combobox', { name: 'Search models' }).waitFor();
    await keyboard.press('ArrowDown');
    await keyboard.press('Escape');
    await page.getByRole('combobox', { name: 'Search models' }).waitFor({ state: 'detached' });
    expect(await picker.innerText()).toBe(before);
    expect(await describeFocus(page)).toMatch(/^Model:/);
    await page.close();
  });

  verifies('app/accessible', 'by keyboard alone: sidebar, shortcuts, a chat’s menu', async () => {
    const page = await open(chat);
    const { keyboard } = page;
    await chats(page).waitFor();
    await keyboard.press('Control+B');
    await chats(page).waitFor({ state: 'detached' });
    await tabTo(page, 'Show sidebar');
    await keyboard.press('Enter');
    await chats(page).waitFor();
    await keyboard.press('Control+/');
    const help = page.getByRole('dialog');
    await help.getByText('New chat').waitFor();
    // The dialog traps the focus.
    for (let presses = 0; presses < 5; presses++) {
      await keyboard.press('Tab');
      expect(
        await page.evaluate(() => document.activeElement === document.body || document.activeElement?.closest('dialog') !== null),
      ).toBe(true);
    }
    await keyboard.press('Escape');
    await help.waitFor({ state: 'detached' });
    await tabTo(page, /^More actions for How do I add/);
    await keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'Rename' }).waitFor();
    await keyboard.press('Enter');
    await waitFor(async () => (await describeFocus(page)) === 'Chat title');
    await keyboard.type('By keyboard');
    await keyboard.press('Enter');
    await tabTo(page, 'More actions for By keyboard');
    await keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'Rename' }).waitFor();
    await keyboard.press('End');
    await keyboard.press('Enter');
    await waitFor(async () => (await describeFocus(page)) === 'Message', 'the keyboard to be in a new chat');
    await tabTo(page, 'Undo');
    await keyboard.press('Enter');
    await page.getByRole('navigation', { name: 'Chats' }).getByRole('link', { name: 'By keyboard' }).waitFor();
    await page.close();
  });

  verifies('app/accessible', 'by keyboard alone: a provider is added, made default and removed, and the look is chosen', async () => {
    const page = await open('/');
    const { keyboard } = page;
    await keyboard.press('Control+,');
    await page.waitForURL(/\/settings$/);
    await tabTo(page, 'Models and keys');
    await keyboard.press('Enter');
    await page.waitForURL(/\/models$/);
    await page.getByText('Built in').waitFor();
    await tabTo(page, 'Add provider');
    await keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Add provider' });
    await dialog.waitFor();
    expect(await describeFocus(page)).toBe('Provider');
    await keyboard.press('Tab');
    expect(await describeFocus(page)).toBe('Base URL');
    await keyboard.type('nonsense');
    await keyboard.press('Enter');
    await dialog.getByRole('alert').waitFor();
    expect(await describeFocus(page)).toBe('Base URL');
    expect(await page.getByLabel('Base URL').getAttribute('aria-invalid')).toBe('true');
    await keyboard.press('Control+A');
    await keyboard.type(upstream.url);
    await keyboard.press('Tab');
    await keyboard.type('Typed');
    await keyboard.press('Tab');
    expect(await describeFocus(page)).toMatch(/^API key/);
    await keyboard.press('Enter');
    await dialog.getByText('Connected to Typed').waitFor();
    await tabTo(page, 'Make default');
    await keyboard.press('Enter');
    await dialog.getByText('Default', { exact: true }).waitFor();
    await tabTo(page, 'Done');
    await keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    expect(await describeFocus(page)).toBe('Add provider');

    await tabTo(page, 'Default model');
    const chosen = await page.getByRole('combobox', { name: 'Default model' }).inputValue();
    await keyboard.press('ArrowDown');
    await waitFor(
      async () => (await page.getByRole('combobox', { name: 'Default model' }).inputValue()) !== chosen,
      'another default model',
    );

    const row = page.getByRole('listitem').filter({ hasText: 'Typed' });
    await row.getByRole('button', { name: 'Remove' }).waitFor();
    const rows = await page.getByRole('button', { name: 'Remove' }).count();
    for (let at = 0; at < rows; at++) {
      await tabTo(page, 'Remove');
      if (await row.evaluate((element) => element.contains(document.activeElement))) break;
    }
    await keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Remove Typed?' }).waitFor();
    await tabTo(page, 'Remove');
    await keyboard.press('Enter');
    await row.waitFor({ state: 'detached' });

    await keyboard.press('Control+,');
    await page.waitForURL(/\/settings$/);
    await tabTo(page, 'Appearance');
    await keyboard.press('Enter');
    await page.waitForURL(/\/settings\/appearance$/);
    await tabTo(page, /^System/);
    await keyboard.press('ArrowRight');
    await keyboard.press('ArrowRight');
    await waitFor(
      async () => (await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)) === 'dark',
      'the dark look',
    );
    await keyboard.press('ArrowLeft');
    await keyboard.press('ArrowLeft');
    await page.close();
  });

  verifies('app/accessible', 'nothing scrolls sideways at 320 px, also what opens over the page', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const path of ['/', '/settings', ...SETTINGS, '/models', '/memory', '/memory#preferences', '/memory#days', chat]) {
        const page = await open(path, { width: 320, colorScheme });
        if (path === chat) await replies(page).first().waitFor();
        if (path.startsWith('/memory')) await waitForMemories(page);
        await expectNoProblems(() => findOverflow(page), `${path}, ${colorScheme}`);
        if (path === '/models') {
          await page.getByRole('button', { name: 'Add provider' }).click();
          await page.getByLabel('Base URL').waitFor();
        } else if (path === '/settings/keyboard') {
          await page.getByRole('button', { name: 'Show shortcuts' }).click();
          await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
        } else if (path.startsWith('/settings')) {
          await page.getByRole('button', { name: 'All settings' }).click();
          await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Keyboard' }).waitFor();
        } else if (path === '/memory') {
          await page.getByRole('button', { name: 'Add memory' }).click();
          await page.getByLabel('Memory text').waitFor();
        } else if (path === '/memory#days') {
          await page.getByRole('button', { name: 'Today' }).click();
          await page.getByRole('button', { name: 'Summarise this day' }).waitFor();
        } else if (path === '/memory#preferences') {
          await page.getByRole('button', { name: 'Edit' }).click();
        } else {
          await page.keyboard.press('Control+Shift+M');
          await page.getByRole('combobox', { name: 'Search models' }).waitFor();
          await expectNoProblems(() => findOverflow(page), `${path} with models, ${colorScheme}`);
          await page.keyboard.press('Escape');
          await openPalette(page);
          await page.keyboard.type('a model');
          await getPaletteOptions(page).first().waitFor();
          await expectNoProblems(() => findOverflow(page), `${path} with the palette, ${colorScheme}`);
          await page.keyboard.press('Escape');
          await page.getByRole('button', { name: 'Show sidebar' }).click();
          await chats(page).waitFor();
          await openVaultMenu(page);
        }
        await expectNoProblems(() => findOverflow(page), `${path} with what is over it, ${colorScheme}`);
        await page.close();
      }
    }
  });

  verifies('app/accessible', 'a low window, as at 200 %, has room for chats, and for what a search finds', async () => {
    const page = await open(chat);
    await page.setViewportSize({ width: 640, height: 400 });
    // The app has taken note of the new size.
    await page.getByRole('button', { name: 'Show sidebar' }).waitFor();
    const sidebar = chats(page);
    await page.getByRole('button', { name: 'Show sidebar' }).click();
    /** Its middle is in sight, and nothing lies over it. */
    const inSight = (of: Locator) => waitFor(() => of.evaluate(isOnTop), 'it to be in sight');
    await inSight(sidebar.locator('a[href^="/chat/"]').first());
    expect(await runAxe(page)).toEqual([]);
    // The palette takes the place of the drawer.
    await openPalette(page);
    await sidebar.waitFor({ state: 'detached' });
    await page.keyboard.type('schedules');
    await inSight(getPaletteOptions(page, 'Pages').filter({ hasText: 'Schedules' }));
    expect(await runAxe(page)).toEqual([]);
    await page.close();
  });

  verifies('app/accessible', 'text stands out by 4.5 to 1, icons by 3 to 1, light and dark', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const path of ['/', '/settings', ...SETTINGS, '/models', '/memory', '/memory#preferences', '/memory#days', chat]) {
        const page = await open(path, { colorScheme });
        if (path === chat) await replies(page).first().waitFor();
        else if (path.startsWith('/memory')) await waitForMemories(page);
        else if (path === '/') await composer(page).fill('a draft, so that Send is enabled');
        await expectNoProblems(() => findLowContrast(page), `${path}, ${colorScheme}`);
        await page.keyboard.press(hasNoModelPicker(path) ? 'Control+/' : 'Control+Shift+M');
        await page.getByRole('dialog').waitFor();
        await expectNoProblems(() => findLowContrast(page), `${path} with a dialog, ${colorScheme}`);
        if (path === '/') {
          await page.keyboard.press('Escape');
          const field = await openPalette(page);
          await page.keyboard.type('model');
          await getPaletteOptions(page).first().waitFor();
          await expectNoProblems(() => findLowContrast(page), `the palette, ${colorScheme}`);
          await page.keyboard.press('Escape');
          await field.waitFor({ state: 'detached' });
          await openVaultMenu(page);
          await expectNoProblems(() => findLowContrast(page), `the vault, ${colorScheme}`);
        }
        await page.close();
      }
    }
  });
});
