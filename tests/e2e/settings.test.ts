import type { Page } from 'playwright';
import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitForConnection, LINKED_STATUS, openLinkedPage } from './connection-status.ts';
import { connectOutside } from './outside-client.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { takeScreenshots } from './take-screenshots.ts';

const label = 'Search chats';
const row = (page: Page) => page.getByRole('list', { name: 'Shortcuts' }).getByRole('listitem').filter({ hasText: label });
const search = (page: Page) => page.getByRole('combobox', { name: 'Search chats' });
const isSearchFocused = (page: Page): Promise<boolean> => search(page).evaluate((field) => field === document.activeElement);
/** Waits for the effect of keys, which follows the event. */
const waitForSearchFocus = (page: Page): Promise<unknown> =>
  page.waitForFunction(() => document.activeElement?.getAttribute('role') === 'combobox');

describe('settings', () => {
  const at = useGatewayAndBrowser();

  verifies('app/settings-search', 'parts by their words, none, and the one that is addressed', async () => {
    const page = await openLinkedPage(at.browser, at.perch);
    await page.goto(`${at.perch.url}/settings`);
    await waitForConnection(page, LINKED_STATUS);
    const visibleHeadings = () => page.locator('main section').filter({ visible: true }).getByRole('heading', { level: 2 }).allInnerTexts();
    const all = await visibleHeadings();
    expect(all).toEqual(expect.arrayContaining(['Appearance', 'Keyboard', 'Storage']));
    const field = page.getByRole('textbox', { name: 'Search settings' }).or(page.getByRole('searchbox', { name: 'Search settings' }));
    await field.fill('LIGHT dark');
    await expect.poll(visibleHeadings).toEqual(['Appearance']);
    // By what people call it, which stands nowhere on the page, and on other pages.
    const elsewhere = page.getByRole('navigation', { name: 'Other pages' });
    for (const [typed, parts, pages] of [
      ['timeout', ['Timeouts and retries'], []],
      ['Password', ['API keys for programs', 'Connection'], ['Backups']],
      ['proxy', ['Providers', 'Browser for agents', 'Connection'], []],
      ['telegram', [], ['Channels']],
      ['backup', [], ['Backups']],
      ['embedding', [], ['Memory', 'Models']],
      ['api key', ['Providers', 'API keys for programs'], ['Models']],
      ['dark mode', ['Appearance'], []],
    ] as const) {
      await field.fill(typed);
      await expect.poll(async () => (await visibleHeadings()).toSorted()).toEqual([...parts].sort());
      expect((await elsewhere.getByRole('link').allInnerTexts()).map((text) => text.trim())).toEqual(pages);
    }
    await field.fill('telegram');
    expect(await page.getByText('No matching settings').count()).toBe(0);
    await elsewhere.getByRole('link', { name: 'Channels' }).click();
    await page.waitForURL(/\/channels$/);
    await page.goto(`${at.perch.url}/settings`);
    await field.fill('no such thing');
    await page.getByText('No matching settings').waitFor();
    expect(await visibleHeadings()).toEqual([]);
    await page.evaluate(() => (location.hash = '#storage'));
    await expect.poll(visibleHeadings).toEqual(all);
    expect(await field.inputValue()).toBe('');
    await expect.poll(() => page.locator('#storage').evaluate((part) => part.getBoundingClientRect().top < innerHeight)).toBe(true);
    await page.close();
  });

  verifies('app/places', 'every part of the settings, and pages, by their names', async () => {
    const page = await at.browser.page(`${at.perch.url}/settings`);
    await waitForConnection(page, LINKED_STATUS);
    const parts = await page
      .locator('main section[id]')
      .evaluateAll((sections) => sections.map(({ id, firstElementChild }) => [`/settings#${id}`, firstElementChild?.textContent ?? '']));
    expect(parts.length).toBeGreaterThan(10);
    const found = page.getByRole('listbox', { name: 'Search results' });
    for (const [href = '', title = ''] of parts) {
      await search(page).fill(title.toLowerCase());
      await found.locator(`a[href="${href}"]`, { hasText: title }).waitFor();
    }
    await search(page).fill('voi');
    await page.getByText('1 page, no chats').waitFor();
    await takeScreenshots(page, 'places');
    await search(page).press('Enter');
    await page.waitForURL(/\/settings#voice$/);
    await page.keyboard.press('ControlOrMeta+k');
    await expect.poll(() => search(page).evaluate((field) => field === document.activeElement)).toBe(true);
    await page.keyboard.type('sync dev');
    await page.getByRole('option', { name: 'Devices and sync' }).waitFor();
    await search(page).press('Enter');
    await page.waitForURL(/\/devices$/);
    await page.close();
  });

  verifies('app/keys', 'a new chat takes typed text, also if one is on screen already', async () => {
    const page = await at.browser.page(at.perch.url);
    await waitForConnection(page, LINKED_STATUS);
    await page.getByRole('button', { name: /^Connection/ }).focus();
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
    await search(page).waitFor();
    await page.reload();
    await waitForConnection(page, LINKED_STATUS);
    await row(page).getByText('Alt', { exact: true }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.press('Control+/');
    await page.getByRole('dialog').getByText(label).waitFor();
    expect(await isSearchFocused(page)).toBe(false);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+Alt+k');
    await waitForSearchFocus(page);

    await row(page)
      .getByRole('button', { name: `Turn off shortcut for ${label}` })
      .click();
    await row(page).getByText('Off', { exact: true }).waitFor();
    await page.keyboard.press('Control+Alt+k');
    await page.keyboard.press('Control+/');
    await page.getByRole('dialog').getByText('Settings', { exact: true }).waitFor();
    expect(await page.getByRole('dialog').getByText(label).count()).toBe(0);
    expect(await isSearchFocused(page)).toBe(false);
    await page.keyboard.press('Escape');
    await row(page)
      .getByRole('button', { name: `Reset shortcut for ${label}` })
      .click();
    await page.keyboard.press('Control+k');
    await waitForSearchFocus(page);
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
    expect(await search(page).isVisible()).toBe(true);
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
