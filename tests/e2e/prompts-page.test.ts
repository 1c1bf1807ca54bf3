import { readFileSync } from 'node:fs';
import type { Page } from 'playwright';
import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { readContext, removeContext } from '../support/model-context.ts';
import { startUpstream } from '../test-upstream.ts';
import { createTouch } from './canvas-input.ts';
import { waitForConnection, LINKED_STATUS, openLinkedPage } from './connection-status.ts';
import { addProvider, connectOutside } from './outside-client.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { getPaletteOptions, openPalette } from './palette.ts';
import { takeScreenshots } from './take-screenshots.ts';

const message = (page: Page) => page.getByRole('textbox', { name: 'Message' });
const getPromptList = (page: Page) => page.getByRole('listbox', { name: 'Prompts' });
/** A tab in which nothing was written before: drafts are the browser's. */
async function openFreshTab({ browser, perch }: ReturnType<typeof useGatewayAndBrowser>, path = '/'): Promise<Page> {
  const page = await browser.page();
  await page.addInitScript(() => {
    for (const key of Object.keys(localStorage)) if (key.includes('.draft.')) localStorage.removeItem(key);
  });
  await page.goto(perch.url + path);
  await waitForConnection(page, LINKED_STATUS);
  return page;
}

const file = (title: string, text: string): string => `---\ntitle: ${title}\n---\n\n${text}\n`;

describe('prompts in the app', () => {
  const at = useGatewayAndBrowser();

  verifies('prompts.app/library', 'made from a starter, changed, renamed, duplicated, found and deleted; another tab has it', async () => {
    const page = await openLinkedPage(at.browser, at.perch);
    using outside = await connectOutside(at.perch);
    const { client } = outside;
    const paths = async () => (await client.call('workspace.list', { under: 'prompts' })).files.map(({ path }) => path);
    // Without prompts the slash offers a link to the page.
    await message(page).pressSequentially('/');
    await page.getByRole('link', { name: 'Create a prompt' }).click();
    await page.getByText('No prompts yet').waitFor();
    await takeScreenshots(page, 'empty');
    await page.getByRole('button', { name: '🧒 Explain simply' }).click();
    const form = page.getByRole('dialog', { name: 'New prompt' });
    expect(await form.getByLabel('Name').inputValue()).toBe('explain');
    await form.getByText('Asks for: subject.').waitFor();
    await takeScreenshots(page, 'form');
    await form.getByRole('button', { name: 'Create' }).click();
    const row = page.getByRole('list', { name: 'Prompts', exact: true }).getByRole('listitem', { name: 'Explain simply', exact: true });
    await row.getByText('/explain').waitFor();
    expect(await paths()).toEqual(['prompts/explain.md']);

    await row.getByRole('button', { name: 'More actions for' }).click();
    await page.getByRole('menuitem', { name: 'Duplicate' }).click();
    await page.getByRole('listitem', { name: 'Explain simply (copy)' }).getByText('/explain-2').waitFor();
    await row.getByRole('button', { name: 'More actions for' }).click();
    await page.getByRole('menuitem', { name: 'Edit…' }).click();
    const change = page.getByRole('dialog', { name: 'Edit prompt' });
    await change.getByLabel('Name').fill('/explain-2');
    await change.getByText('The name /explain-2 is already taken.').waitFor();
    expect(await change.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await change.getByLabel('Name').fill('Simply');
    await change.getByLabel('Text', { exact: true }).fill('Explain {{subject}} as a poem.');
    await change.getByRole('button', { name: 'Save' }).click();
    await change.waitFor({ state: 'detached' });
    expect(await paths()).toEqual(['prompts/explain-2.md', 'prompts/simply.md']);
    const { content } = await client.call('workspace.read', { path: 'prompts/simply.md' });
    expect(content).toBe('---\ntitle: Explain simply\ndescription: With an everyday example\n---\n\nExplain {{subject}} as a poem.\n');
    await takeScreenshots(page, 'list');

    const other = await at.browser.page(`${at.perch.url}/prompts`);
    await waitForConnection(other, LINKED_STATUS);
    await other.getByRole('textbox', { name: 'Search prompts' }).fill('poem');
    await other.getByText('/explain-2').waitFor({ state: 'detached' });
    await other.getByText('/simply').waitFor();
    await other.close();

    for (const name of ['Explain simply (copy)', 'Explain simply']) {
      await page.getByRole('button', { name: `More actions for ${name}`, exact: true }).click();
      await page.getByRole('menuitem', { name: 'Delete…' }).click();
      await page.getByRole('dialog', { name: 'Delete this prompt?' }).getByRole('button', { name: 'Delete', exact: true }).click();
      await page.getByRole('button', { name: `More actions for ${name}`, exact: true }).waitFor({ state: 'detached' });
    }
    await page.getByText('No prompts yet').waitFor();
    expect(await paths()).toEqual([]);
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });

  verifies('prompts.app/slash', 'by keyboard: searched, selected, closed and inserted; unmatched text is sent unchanged', async () => {
    using outside = await connectOutside(at.perch);
    const { client } = outside;
    await client.call('workspace.write', { path: 'prompts/greet.md', content: file('Greet', 'Good morning, birds.') });
    await client.call('workspace.write', {
      path: 'prompts/group.md',
      content: file('Group', 'Group {{things}} by {{kind}}, today is {{date}}.'),
    });
    const page = await openFreshTab(at);
    const field = message(page);
    await field.pressSequentially('/gr');
    await getPromptList(page).getByRole('option', { name: '/group' }).waitFor();
    const options = getPromptList(page).getByRole('option');
    expect(await options.count()).toBe(2);
    const active = async () => page.locator(`[id="${await field.getAttribute('aria-activedescendant')}"]`).innerText();
    expect(await active()).toContain('/greet');
    await field.press('ArrowDown');
    expect(await active()).toContain('/group');
    await field.press('ArrowDown');
    expect(await active()).toContain('/greet');
    await takeScreenshots(page, 'slash');
    // Esc closes it for these words; the next letter opens it again.
    await field.press('Escape');
    await getPromptList(page).waitFor({ state: 'detached' });
    expect(await field.getAttribute('aria-activedescendant')).toBeNull();
    await field.press('e');
    await getPromptList(page).waitFor();
    expect(await options.count()).toBe(1);
    await field.press('Enter');
    await waitFor(async () => (await field.inputValue()) === 'Good morning, birds.', 'the prompt in the field');
    expect(new URL(page.url()).pathname).toBe('/');

    // Only at the beginning, and no path.
    for (const text of ['and /gr', '/gr/x', '/gr x']) {
      await field.fill('');
      await field.pressSequentially(text);
      expect(await getPromptList(page).count(), text).toBe(0);
    }
    // Text after the caret is kept.
    await field.fill(' And more.');
    await field.press('Home');
    await field.pressSequentially('/greet');
    await getPromptList(page).waitFor();
    await field.press('Tab');
    await waitFor(async () => (await field.inputValue()) === 'Good morning, birds. And more.', 'what stood there, behind it');
    expect(await field.evaluate((area: HTMLTextAreaElement) => area.selectionStart)).toBe('Good morning, birds.'.length);

    await field.fill('');
    await field.pressSequentially('/usr');
    await field.press('Enter');
    await page.waitForURL(/\/chat\//);
    const getChatSummaries = async () => JSON.stringify((await client.call('sessions.list', {})).sessions.map(({ title }) => title));
    await waitFor(async () => (await getChatSummaries()).includes('/usr'), 'the chat that begins with it');
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });

  verifies('skills.app/slash', 'skills beside them: one is taken by its name, and the model has it for the message', async () => {
    await using upstream = await startUpstream({ models: ['normal'] });
    using outside = await connectOutside(at.perch);
    const { client } = outside;
    await addProvider(client, upstream.url);
    const skill = (name: string, more = ''): string => `---\nname: ${name}\ndescription: Good for ${name}\n${more}---\nCount the herons.\n`;
    await client.call('workspace.write', { path: 'skills/greylag/SKILL.md', content: skill('greylag') });
    await client.call('workspace.write', { path: 'skills/grumble/SKILL.md', content: skill('grumble', 'user-invocable: false\n') });
    await client.call('config.set', { key: 'chat.model', value: 'local/normal' });
    const page = await openFreshTab(at);
    await message(page).pressSequentially('/gr');
    const list = page.getByRole('listbox', { name: 'Prompts and skills' });
    await list.getByRole('option', { name: '/greylag' }).waitFor();
    expect((await list.getByRole('option').locator('code').allInnerTexts()).sort()).toEqual(['/greet', '/greylag', '/group']);
    await takeScreenshots(page, 'slash-skills');
    await message(page).pressSequentially('eyl');
    await message(page).press('Enter');
    await waitFor(async () => (await message(page).inputValue()) === '/greylag ', 'the call in the field');
    await list.waitFor({ state: 'detached' });
    await message(page).pressSequentially('by the lake');
    await message(page).press('Enter');
    await page.getByRole('article', { name: 'Reply' }).getByText('Hello wörld').waitFor();
    const { messages } = (await upstream.request(1)).body as { messages: { role: string; content: unknown }[] };
    expect(readContext(messages)).toContain('Count the herons.');
    expect(removeContext(messages).at(-1)?.content).toBe('/greylag by the lake');
    await client.call('config.set', { key: 'chat.model', value: 'guide/guide' });
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });

  verifies('prompts.app/slash', 'an Enter of an input method takes none; a click and a tap do', async () => {
    const page = await openFreshTab(at);
    const field = message(page);
    await field.pressSequentially('/greet');
    await getPromptList(page).waitFor();
    await field.dispatchEvent('keydown', { key: 'Enter', keyCode: 229, bubbles: true, cancelable: true });
    await field.dispatchEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true, cancelable: true });
    expect(await field.inputValue()).toBe('/greet');
    const option = getPromptList(page).getByRole('option', { name: '/greet' });
    await option.click();
    await waitFor(async () => (await field.inputValue()) === 'Good morning, birds.', 'the prompt in the field');
    expect(await field.evaluate((area) => area === document.activeElement)).toBe(true);
    await field.fill('');
    const cdp = await at.browser.context.newCDPSession(page);
    await cdp.send('Emulation.setTouchEmulationEnabled', { enabled: true });
    await field.pressSequentially('/greet');
    const { x = 0, y = 0 } = (await option.boundingBox()) ?? {};
    await createTouch(cdp, 'touchStart', { x: x + 20, y: y + 10 });
    await createTouch(cdp, 'touchEnd');
    await waitFor(async () => (await field.inputValue()) === 'Good morning, birds.', 'the prompt that was tapped');
    await page.close();
  });

  verifies('prompts.app/variables', 'asked for in a form, with the app’s own filled in; cancelled, nothing changes', async () => {
    const page = await openFreshTab(at);
    const field = message(page);
    await field.pressSequentially('/group');
    await getPromptList(page).waitFor();
    await field.press('Enter');
    const form = page.getByRole('dialog', { name: 'Group' });
    await form.getByLabel('Things').waitFor();
    await takeScreenshots(page, 'variables');
    await form.getByRole('button', { name: 'Cancel' }).click();
    expect(await field.inputValue()).toBe('/group');
    await field.press('Enter');
    await form.getByLabel('Things').fill('birds {{kind}} $&');
    await form.getByLabel('Kind').fill('colour');
    await form.getByLabel('Kind').press('Enter');
    await form.waitFor({ state: 'detached' });
    const today = await page.evaluate(() => new Date().toLocaleDateString('en', { dateStyle: 'long' }));
    expect(await field.inputValue()).toBe(`Group birds {{kind}} $& by colour, today is ${today}.`);
    // The form is not the message: nothing was sent.
    expect(new URL(page.url()).pathname).toBe('/');
    await page.close();
  });

  verifies('prompts.app/variables', 'clipboard text is inserted if permitted, and requested otherwise', async () => {
    using outside = await connectOutside(at.perch);
    await outside.client.call('workspace.write', { path: 'prompts/copied.md', content: file('Copied', 'Look: {{clipboard}}') });
    const page = await openFreshTab(at);
    const take = async (): Promise<void> => {
      await message(page).fill('');
      await message(page).pressSequentially('/copied');
      await getPromptList(page).waitFor();
      await message(page).press('Enter');
    };
    await at.browser.context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: at.perch.url });
    await page.evaluate(() => navigator.clipboard.writeText('three kites'));
    await take();
    await waitFor(async () => (await message(page).inputValue()) === 'Look: three kites', 'what was copied');
    await page.evaluate(() => navigator.clipboard.writeText(''));
    await take();
    await page.getByRole('dialog', { name: 'Copied' }).getByLabel('Clipboard text').fill('by hand');
    await page.getByRole('button', { name: 'Insert' }).click();
    await waitFor(async () => (await message(page).inputValue()) === 'Look: by hand', 'what was written instead');
    await at.browser.context.clearPermissions();
    await page.close();
  });

  verifies('prompts.app/found', 'by the search, on another page and in a chat that is open', async () => {
    const page = await openFreshTab(at, '/usage');
    const search = await openPalette(page);
    await search.fill('greet');
    const result = getPaletteOptions(page, 'Prompts').filter({ hasText: 'Greet' });
    await result.waitFor();
    await takeScreenshots(page, 'search');
    await search.press('Enter');
    await waitFor(
      async () =>
        (await message(page)
          .inputValue()
          .catch(() => '')) === 'Good morning, birds.',
      'the prompt in a new chat',
    );
    await message(page).fill('Already here');
    await openPalette(page);
    await search.fill('greet');
    await result.click();
    await waitFor(
      async () => (await message(page).inputValue()) === 'Already here\nGood morning, birds.',
      'the prompt behind what stood there',
    );
    await page.close();
  });

  verifies('prompts.app/exchange', 'exported and imported again: existing prompts stay, a duplicate name gets a number', async () => {
    using outside = await connectOutside(at.perch);
    const { client } = outside;
    const page = await at.browser.page(`${at.perch.url}/prompts`);
    await waitForConnection(page, LINKED_STATUS);
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export' }).click()]);
    const saved = readFileSync(await download.path(), 'utf8');
    expect(JSON.parse(saved)).toContainEqual({ command: '/greet', title: 'Greet', description: '', content: 'Good morning, birds.' });
    await client.call('workspace.remove', { path: 'prompts/group.md' });
    await page.getByRole('button', { name: 'Import…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Import prompts' });
    const give = (text: string) =>
      dialog.getByLabel('Prompts file').setInputFiles({ name: 'prompts.json', mimeType: 'application/json', buffer: Buffer.from(text) });
    await give(saved);
    await dialog.getByText('1 prompt imported, 2 already saved.').waitFor();
    await give(JSON.stringify([{ command: '/greet', title: 'Another', content: 'Good evening.' }, { command: '/none' }]));
    await dialog.getByText('1 prompt imported.').waitFor();
    await dialog.getByText('Prompt 2 was skipped').waitFor();
    await takeScreenshots(page, 'import');
    await give(saved.slice(0, -10));
    await dialog.getByRole('alert').getByText('Couldn’t import prompts.json').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await page.getByRole('listitem', { name: 'Another' }).getByText('/greet-2').waitFor();
    expect((await client.call('workspace.read', { path: 'prompts/greet-2.md' })).content).toContain('Good evening.');
    // Others may have written it.
    const { items } = await client.call('review.list', {});
    expect(items.find(({ title }) => title === 'prompts/greet-2.md')?.sources).toEqual(['import:prompts']);
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });
});
