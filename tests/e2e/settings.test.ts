import type { Locator, Page } from 'playwright';
import { describe, expect } from 'vitest';
import { SETTING_PAGES } from '../../web/app/shell/setting-pages.ts';
import { verifies } from '../requirements.ts';
import { waitForConnection, LINKED_STATUS, openLinkedPage } from './connection-status.ts';
import { connectOutside } from './outside-client.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { getPaletteField, getPaletteOptions, openPalette } from './palette.ts';
import { takeScreenshots } from './take-screenshots.ts';

const label = 'Search or run a command';
/** Sections of the settings on pages of their own. */
const ELSEWHERE = ['Providers', 'Default model', 'Tools', 'Connection', 'Storage'].map((name) => ({ name }));
const row = (page: Page) => page.getByRole('list', { name: 'Shortcuts' }).getByRole('listitem').filter({ hasText: label });
const isInView = (part: Locator): Promise<boolean> =>
  part.evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return top >= 0 && top < innerHeight && bottom > 0;
  });

describe('settings', () => {
  const at = useGatewayAndBrowser();

  verifies('app/settings-search', 'sections and pages by their words, none, and the one that is addressed', async () => {
    const page = await openLinkedPage(at.browser, at.perch);
    await page.goto(`${at.perch.url}/wiki`);
    await waitForConnection(page, LINKED_STATUS);
    const field = await openPalette(page);
    const getFound = async (): Promise<string[]> => (await getPaletteOptions(page, 'Pages').locator('.label').allInnerTexts()).sort();
    // By what people call it, which stands nowhere on the page.
    for (const [typed, found] of [
      ['LIGHT dark', ['Appearance']],
      ['timeout', ['Timeouts and retries']],
      ['Password', ['API keys for programs', 'Connection', 'Backups']],
      ['proxy', ['Providers', 'Browser for agents', 'Connection']],
      ['telegram', ['Channels']],
      ['backup', ['Backups']],
      ['embedding', ['Memories in replies', 'Memory', 'Memory', 'Models and keys', 'Search by meaning']],
      ['api key', ['Providers', 'API keys for programs', 'Models and keys']],
      ['dark mode', ['Appearance']],
    ] as const) {
      await field.fill(typed);
      await expect.poll(getFound, { message: typed }).toEqual([...found].sort());
    }
    await field.fill('no such thing');
    await page.getByRole('status').getByText('No results').waitFor({ state: 'attached' });
    expect(await getPaletteOptions(page).count()).toBe(0);
    await field.fill('telegram');
    await getPaletteOptions(page, 'Pages').filter({ hasText: 'Channels' }).click();
    await page.waitForURL(/\/channels$/);
    // An address of one section shows it, wherever it is.
    for (const [id, href] of Object.entries(SETTING_PAGES)) {
      await page.goto(`${at.perch.url}/settings#${id}`);
      await page.waitForURL(`${at.perch.url}${href}#${id}`);
      await expect.poll(() => isInView(page.locator(`[id="${id}"]`)), { message: id }).toBe(true);
    }
    await page.close();
  });

  verifies('app/places', 'every section of the settings, and pages, by their names', async () => {
    const page = await at.browser.page(`${at.perch.url}/settings`);
    await waitForConnection(page, LINKED_STATUS);
    const sidebar = page.getByRole('navigation', { name: 'Chats' });
    const settings = page.getByRole('navigation', { name: 'Settings' });
    const listLinks = (links: Locator): Promise<{ href: string; name: string }[]> =>
      links.evaluateAll((all) =>
        all.map((link) => ({ href: link.getAttribute('href') ?? '', name: (link as HTMLElement).innerText.trim() })),
      );
    const places = await listLinks(settings.getByRole('link'));
    expect(places.length).toBeGreaterThan(12);
    // Pages of a destination or section that has several are its tabs.
    for (const [nav, from, at] of [
      ['Knowledge', sidebar, 3],
      ['Automations', sidebar, 3],
      ['Advanced', settings, 5],
    ] as const) {
      await from.getByRole('link', { name: nav }).click();
      const tabs = page.getByRole('navigation', { name: nav }).getByRole('link');
      await tabs.nth(at - 1).waitFor();
      places.push(...(await listLinks(tabs)));
      await page.goto(new URL('/settings', page.url()).href);
    }
    const titles: { href: string; name: string }[] = [];
    for (const href of new Set(places.map(({ href }) => href).filter((each) => each.startsWith('/settings')))) {
      await page.goto(`${at.perch.url}${href}`);
      await page.locator('main section[id]').first().waitFor();
      for (const section of await page.locator('main section[id]').all())
        titles.push({ href: `${href}#${await section.getAttribute('id')}`, name: await section.getByRole('heading').first().innerText() });
    }
    expect(titles.length).toBeGreaterThan(10);
    // Two sections only lead to pages that are among these.
    const sections = titles.filter(({ href }) => !/#(chats|maintenance)$/.test(href));
    for (const { name } of [...places, ...sections, ...ELSEWHERE]) {
      const field = await openPalette(page);
      await field.fill(name.toLowerCase());
      // The section Advanced is called by its tabs.
      const label = name === 'Advanced' ? 'Timeouts and retries' : name;
      await getPaletteOptions(page, 'Pages').filter({ hasText: label }).first().waitFor();
      await page.keyboard.press('Escape');
      await field.waitFor({ state: 'detached' });
    }
    // Enter opens the first one.
    const field = await openPalette(page);
    await field.fill('voi');
    // Which one it is, a screen reader hears from the field.
    const selected = getPaletteOptions(page, 'Pages').filter({ hasText: 'Voice' });
    await expect.poll(async () => (await field.getAttribute('aria-activedescendant')) === (await selected.getAttribute('id'))).toBe(true);
    await page.getByRole('status').getByText('1 result', { exact: true }).waitFor({ state: 'attached' });
    await takeScreenshots(page, 'places');
    await field.press('Enter');
    await page.waitForURL(/\/settings\/voice$/);
    await page.getByRole('heading', { name: 'Voice', level: 1 }).waitFor();
    await openPalette(page);
    await page.keyboard.type('sync dev');
    await getPaletteOptions(page).filter({ hasText: 'Devices and sync' }).waitFor();
    await field.press('Enter');
    await page.waitForURL(/\/devices$/);
    // A section that is further down is in view.
    await openPalette(page);
    await page.keyboard.type('storage');
    await getPaletteOptions(page, 'Pages').filter({ hasText: 'Storage' }).waitFor();
    await field.press('Enter');
    await page.waitForURL(/\/devices#storage$/);
    await expect.poll(() => isInView(page.locator('#storage'))).toBe(true);
    await page.close();
  });

  verifies('app/keys', 'a new chat takes typed text, also if one is on screen already', async () => {
    const page = await at.browser.page(at.perch.url);
    await waitForConnection(page, LINKED_STATUS);
    await page.getByRole('button', { name: /^My vault/ }).focus();
    await page.keyboard.press('Control+Shift+O');
    await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe('TEXTAREA');
    await page.close();
  });

  verifies('app/keys', 'changed, refused, kept over a reload, switched off and back', async () => {
    const page = await at.browser.page(`${at.perch.url}/settings#keyboard`);
    await waitForConnection(page, LINKED_STATUS);
    const change = row(page).getByRole('button', { name: `Change shortcut for ${label}` });
    await change.click();
    await page.keyboard.press('k');
    await row(page).getByRole('alert').getByText('Add Ctrl, Cmd or Alt').waitFor();
    await page.keyboard.press('Control+b');
    await row(page).getByRole('alert').getByText('Already used for: Show or hide sidebar').waitFor();
    await takeScreenshots(page, 'keyboard');
    await page.keyboard.press('Control+Alt+k');
    await row(page).getByText('Alt', { exact: true }).waitFor();
    // Neither was the sidebar hidden, nor is the keyboard lost.
    expect(await change.evaluate((button) => button === document.activeElement)).toBe(true);
    await page.getByRole('navigation', { name: 'Chats' }).waitFor();
    await page.reload();
    await waitForConnection(page, LINKED_STATUS);
    await row(page).getByText('Alt', { exact: true }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.press('Control+/');
    await page.getByRole('dialog').getByText(label).waitFor();
    expect(await getPaletteField(page).count()).toBe(0);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+Alt+k');
    await getPaletteField(page).waitFor();
    await page.keyboard.press('Escape');
    await getPaletteField(page).waitFor({ state: 'detached' });

    await row(page)
      .getByRole('button', { name: `Turn off shortcut for ${label}` })
      .click();
    await row(page).getByText('Off', { exact: true }).waitFor();
    await page.keyboard.press('Control+Alt+k');
    await page.keyboard.press('Control+/');
    await page.getByRole('dialog').getByText('Settings', { exact: true }).waitFor();
    expect(await page.getByRole('dialog').getByText(label).count()).toBe(0);
    expect(await getPaletteField(page).count()).toBe(0);
    await page.keyboard.press('Escape');
    await row(page)
      .getByRole('button', { name: `Reset shortcut for ${label}` })
      .click();
    await openPalette(page);
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });

  verifies('app/keys', 'keys of an input method do nothing, and give up nothing that is being written', async () => {
    const page = await at.browser.page(at.perch.url);
    await waitForConnection(page, LINKED_STATUS);
    const field = page.getByRole('textbox', { name: 'Message', exact: true });
    // As Safari has the key that ends a composition, and as the others have it.
    const composed = [{ keyCode: 229 }, { isComposing: true }];
    await field.dispatchEvent('keydown', { key: 'b', code: 'KeyB', ctrlKey: true, bubbles: true, ...composed[0] });
    await page.keyboard.press('Control+/');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('navigation', { name: 'Chats' }).waitFor();
    await field.fill('What can you do?');
    await field.press('Enter');
    await page.getByRole('article', { name: 'Reply' }).first().waitFor();
    await page.getByRole('button', { name: 'Edit message' }).last().click();
    const edited = page.getByRole('textbox', { name: 'Edit your message' });
    await edited.fill('鳥は何');
    for (const own of composed) await edited.dispatchEvent('keydown', { key: 'Escape', bubbles: true, ...own });
    await edited.press('End');
    expect(await edited.inputValue()).toBe('鳥は何');
    await edited.press('Escape');
    await edited.waitFor({ state: 'detached' });
    await page.close();
  });

  verifies('app/approval-keys', 'allowed and denied in its chat; from another chat nothing', async () => {
    const page = await at.browser.page(at.perch.url);
    await waitForConnection(page, LINKED_STATUS);
    const ask = async (word: string): Promise<void> => {
      await page.getByRole('textbox', { name: 'Message' }).fill(`/tool exec {"command": "echo", "args": ["${word}"]}`);
      await page.getByRole('textbox', { name: 'Message' }).press('Enter');
    };
    const waiting = page.getByRole('list', { name: 'Approvals' }).getByRole('listitem');
    await ask('yes');
    await waiting.waitFor();
    // The keys allow once the whole command was in sight, as the button does.
    await waiting.getByRole('button', { name: 'Allow once' }).click({ trial: true });
    await page.keyboard.press('Control+Alt+Enter');
    await waiting.waitFor({ state: 'detached' });
    await ask('no');
    await waiting.waitFor();
    await page.getByRole('link', { name: 'New chat' }).click();
    await waiting.getByText('another chat').waitFor();
    await page.keyboard.press('Control+Alt+Enter');
    await page.keyboard.press('Control+/');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    using outside = await connectOutside(at.perch);
    const getStoredValue = async (): Promise<unknown> =>
      (await outside.client.call('exec.list', {})).requests.map(({ args, status }) => [args[0], status]);
    expect(await getStoredValue()).toEqual([
      ['no', 'pending'],
      ['yes', 'completed'],
    ]);
    await waiting.getByRole('link', { name: 'another chat' }).click();
    await waiting.getByText('another chat').waitFor({ state: 'detached' });
    await page.keyboard.press('Control+Alt+Backspace');
    await waiting.waitFor({ state: 'detached' });
    expect(await getStoredValue()).toEqual([
      ['no', 'denied'],
      ['yes', 'completed'],
    ]);
    await page.close();
  });
});
