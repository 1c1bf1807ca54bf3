import type { Page } from 'playwright';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { startUpstream, UPSTREAM_TEXT, type Upstream } from '../test-upstream.ts';
import { findLowContrast, findOverflow, waitForNoProblems } from './accessibility.ts';
import { runAxe } from './axe.ts';
import { LINKED_STATUS, openLinkedPage, waitForConnection } from './connection-status.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { addProvider, connectOutside } from './outside-client.ts';
import { takeScreenshots } from './take-screenshots.ts';

const composer = (page: Page) => page.getByRole('textbox', { name: 'Message' });
const replies = (page: Page) => page.getByRole('article', { name: 'Reply' });

async function sendMessage(page: Page, text: string, count: number): Promise<void> {
  await composer(page).fill(text);
  await composer(page).press('Enter');
  await replies(page)
    .getByText(UPSTREAM_TEXT.join(''))
    .nth(count - 1)
    .waitFor();
}

describe('the message field and the title', () => {
  const at = useGatewayAndBrowser();
  let upstream: Upstream;
  beforeAll(async () => {
    upstream = await startUpstream({ models: ['normal'] });
    // The page's gateway takes over: its vault is the one to fill.
    const page = await openLinkedPage(at.browser, at.perch);
    using outside = await connectOutside(at.perch);
    await addProvider(outside.client, upstream.url);
    await outside.client.call('config.set', { key: 'chat.model', value: 'local/normal' });
    await outside.client.call('memory.add', { text: 'The kayak is in the attic' });
    await page.close();
  });
  afterAll(() => upstream?.close());

  async function open(): Promise<Page> {
    const page = await at.browser.page(at.perch.url);
    await waitForConnection(page, LINKED_STATUS);
    return page;
  }
  const getLastBody = async (): Promise<Record<string, unknown>> => (upstream.requests.at(-1)?.body ?? {}) as Record<string, unknown>;

  verifies('app/composer', 'what is chosen for a new chat holds for its first message, and can be changed and reset', async () => {
    const page = await open();
    const memory = page.getByRole('switch', { name: 'Memory' });
    await memory.click();
    expect(await memory.getAttribute('aria-checked')).toBe('false');
    const model = page.getByRole('button', { name: /^Model: normal/ });
    await model.click();
    await page.getByRole('radiogroup', { name: 'Thinking' }).getByText('High', { exact: true }).click();
    await page.keyboard.press('Escape');
    await model.getByText('Thinking: High').waitFor();
    await sendMessage(page, 'Where is the kayak?', 1);
    const first = await getLastBody();
    expect(first['reasoning_effort']).toBe('high');
    expect(JSON.stringify(first['messages'])).not.toContain('in the attic');

    await model.click();
    await page.getByRole('button', { name: 'All parameters…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Parameters of this chat' });
    expect(await dialog.getByLabel('Thinking').inputValue()).toBe('high');
    await dialog.getByLabel('Temperature').fill('0.3');
    await dialog.getByLabel('Instructions').fill('Speak of birds.');
    await takeScreenshots(page, 'parameters');
    expect(await runAxe(page)).toEqual([]);
    await page.setViewportSize({ width: 320, height: 800 });
    expect(await waitForNoProblems(() => findOverflow(page), '320')).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 800 });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    await memory.click();
    await sendMessage(page, 'Where is the kayak now?', 2);
    const second = await getLastBody();
    expect(second).toMatchObject({ reasoning_effort: 'high', temperature: 0.3 });
    expect(JSON.stringify(second['messages'])).toContain('Speak of birds.');
    expect(JSON.stringify(second['messages'])).toContain('in the attic');

    // The chat keeps them; nothing else has them.
    await page.reload();
    await waitForConnection(page, LINKED_STATUS);
    await model.getByText('Thinking: High').waitFor();
    await model.click();
    await page.getByRole('button', { name: 'All parameters…' }).click();
    await dialog.getByRole('button', { name: 'Reset all' }).click();
    await dialog.waitFor({ state: 'detached' });
    await sendMessage(page, 'And now?', 3);
    const third = await getLastBody();
    expect(third['reasoning_effort']).toBeUndefined();
    expect(third['temperature']).toBeUndefined();
    expect(await waitForNoProblems(() => findLowContrast(page), 'contrast')).toEqual([]);
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });

  verifies('app/title', 'is changed in place, or left as it was, and its menu is that of the sidebar', async () => {
    const page = await open();
    await sendMessage(page, 'A title to change', 1);
    const title = page.getByRole('heading', { level: 1 }).getByRole('button');
    await title.click();
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    const field = page.locator('main').getByRole('textbox', { name: 'Chat title' });
    await field.fill('Another title');
    await field.press('Escape');
    expect(await title.innerText()).toContain('A title to change');
    await title.click();
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    await field.fill('Owls of the north');
    await field.press('Enter');
    await page.getByRole('navigation', { name: 'Chats' }).getByRole('link', { name: 'Owls of the north' }).waitFor();
    expect(await page.title()).toBe('Owls of the north · Perch');
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toContain('Owls of the north');
    await title.click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await expect.poll(() => new URL(page.url()).pathname).toBe('/');
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.waitForURL(/\/chat\/main\//);
    await page.getByRole('navigation', { name: 'Chats' }).getByRole('link', { name: 'Owls of the north' }).waitFor();
    await page.close();
  });
});
