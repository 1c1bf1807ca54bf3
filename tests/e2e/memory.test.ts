import type { Locator, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { startUpstream, type Upstream } from '../test-upstream.ts';
import { describeFocus, listControls } from './accessibility.ts';
import { waitForConnection, LINKED_STATUS, openLinkedPage } from './connection-status.ts';
import { addProvider, connectOutside } from './outside-client.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { takeScreenshots } from './take-screenshots.ts';
import { openDestination } from './navigate.ts';

const DAY_MS = 86_400_000;

describe('memory in the app', () => {
  const at = useGatewayAndBrowser();
  let upstream: Upstream;

  beforeAll(async () => {
    upstream = await startUpstream({ models: ['normal', 'endless'] });
    using outside = await connectOutside(at.perch);
    await addProvider(outside.client, upstream.url);
    await (await openLinkedPage(at.browser, at.perch)).close();
  });
  afterAll(() => upstream?.close());

  const open = async (path: string): Promise<Page> => {
    const page = await at.browser.page(at.perch.url + path);
    await waitForConnection(page, LINKED_STATUS);
    return page;
  };
  const unnamed = async (page: Page): Promise<string[]> => (await listControls(page)).filter((each) => each.endsWith(' ""'));
  const rows = (page: Page, list: string, text: string): Locator =>
    page.getByRole('list', { name: list }).getByRole('listitem').filter({ hasText: text });

  verifies('memory.app/page', 'from nothing: added, found with reasons, changed, forgotten and put back, preferences, days', async () => {
    using outside = await connectOutside(at.perch);
    const { client } = outside;
    const page = await open('/');
    await openDestination(page, 'Knowledge', 'Memory');
    await page.getByText('No memories yet').waitFor();
    await takeScreenshots(page, 'empty');
    await page.getByRole('button', { name: 'Add memory' }).click();
    const form = page.getByRole('dialog', { name: 'Add memory' });
    await form.getByLabel('Memory text').fill('The blue kayak is in the barn behind the mill');
    expect(await unnamed(page)).toEqual([]);
    await form.getByRole('button', { name: 'Add', exact: true }).click();
    const kayak = rows(page, 'Memories', 'kayak');
    await kayak.waitFor();
    // The same once more is refused, in words.
    await page.getByRole('button', { name: 'Add memory' }).click();
    await form.getByLabel('Memory text').fill('The blue kayak is in the barn behind the mill');
    await form.getByRole('button', { name: 'Add', exact: true }).click();
    await form.getByText('This memory already exists.').waitFor();
    await page.keyboard.press('Escape');
    await form.getByRole('button', { name: 'Discard' }).click();
    await form.waitFor({ state: 'detached' });

    const now = Date.now();
    await client.call('memory.add', { text: 'We chose the red paint for the shed', category: 'decision', createdAt: now - 2 * DAY_MS });
    await client.call('memory.add', { text: 'Ana’s birthday is on 12 May', category: 'event', createdAt: now - 9 * DAY_MS });
    await client.call('memory.add', { text: 'Order new paddles before the summer', category: 'task', createdAt: now - 20 * DAY_MS });
    await client.call('chat.send', { message: 'Where did we put the tent?', sessionId: 'trip', model: 'local/normal' });
    await client.call('chat.send', { message: 'It hangs in the attic', sessionId: 'trip', model: 'local/normal' });
    const date = new Date(now - 2 * DAY_MS).toISOString().slice(0, 10);
    await client.call('workspace.write', {
      path: `memory/${date}.md`,
      content: '## In the shed\n\nThe **gutters** were cleaned.\n',
      encoding: 'utf8',
    });

    // By category, with counts.
    const filters = page.getByRole('group', { name: 'Categories' });
    await filters.getByRole('button', { name: 'All 4' }).waitFor();
    await filters.getByRole('button', { name: 'Decisions 1' }).click();
    await rows(page, 'Memories', 'red paint').waitFor();
    expect(await page.getByRole('list', { name: 'Memories' }).getByRole('listitem').count()).toBe(1);
    await filters.getByRole('button', { name: 'All 4' }).click();
    await takeScreenshots(page, 'list');

    // Arrow keys go from row to row, to the same control.
    await kayak.getByRole('button', { name: 'Delete' }).focus();
    await page.keyboard.press('ArrowDown');
    expect(await rows(page, 'Memories', 'red paint').evaluate((row) => row.contains(document.activeElement))).toBe(true);
    expect(await describeFocus(page)).toBe('Delete');
    await page.keyboard.press('Home');

    // In place; Esc leaves it as it was, Mod+Enter saves, and the keyboard is back on its button.
    await kayak.getByRole('button', { name: 'Edit' }).click();
    await page.keyboard.type(' (never saved)');
    await page.keyboard.press('Escape');
    await kayak.getByText('The blue kayak is in the barn behind the mill', { exact: true }).waitFor();
    expect(await describeFocus(page)).toBe('Edit');
    await page.keyboard.press('Enter');
    await kayak.getByLabel('Memory text').fill('The blue kayak is at Tom’s');
    await kayak.getByLabel('Category').selectOption({ label: 'Event' });
    expect(await unnamed(page)).toEqual([]);
    await takeScreenshots(page, 'edit');
    await kayak.getByLabel('Memory text').press('Control+Enter');
    await kayak.getByText('The blue kayak is at Tom’s', { exact: true }).waitFor();
    await waitFor(async () => (await describeFocus(page)) === 'Edit', 'the keyboard to be back');
    await filters.getByRole('button', { name: 'Events 2' }).waitFor();
    expect((await client.call('memory.list', { category: 'event' })).memories.map(({ text }) => text)).toContain(
      'The blue kayak is at Tom’s',
    );
    // A duplicate of another memory is refused next to its field.
    await kayak.getByRole('button', { name: 'Edit' }).click();
    await kayak.getByLabel('Memory text').fill('We chose the red paint for the shed');
    await kayak.getByRole('button', { name: 'Save' }).click();
    await page
      .getByRole('alert')
      .getByText(/another memory already has this text/)
      .waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();

    // Deleted and restored, where it stands, by keyboard.
    await kayak.getByRole('button', { name: 'Delete' }).focus();
    await page.keyboard.press('Enter');
    await kayak.getByRole('button', { name: 'Undo' }).waitFor();
    await waitFor(async () => (await describeFocus(page)) === 'Undo', 'the keyboard to be on the way back');
    await waitFor(async () => (await client.call('memory.list', {})).count === 3);
    await filters.getByRole('button', { name: 'All 3' }).waitFor();
    await page.keyboard.press('Enter');
    await kayak.getByRole('button', { name: 'Delete' }).waitFor();
    await waitFor(async () => (await client.call('memory.list', { category: 'event' })).count === 2);

    // Found in other words, with the reasons; what was said with what stands beside it.
    await page.getByRole('textbox', { name: 'Search memory' }).fill('Where is the boat?');
    const found = rows(page, 'Results', 'kayak is at Tom');
    await found.getByText('Mentions “boat”').waitFor();
    await page.getByRole('textbox', { name: 'Search memory' }).press('ArrowDown');
    expect(await found.evaluate((row) => row.contains(document.activeElement))).toBe(true);
    await page.getByRole('textbox', { name: 'Search memory' }).fill('where is the tent');
    const memoryRow = rows(page, 'Results', 'It hangs in the attic').first();
    await memoryRow.getByText(/“tent” mentioned nearby/).waitFor();
    expect(await unnamed(page)).toEqual([]);
    await takeScreenshots(page, 'found');
    await rows(page, 'Results', 'Where did we put').first().getByRole('link', { name: 'Open in chat' }).click();
    await page.waitForURL(/\/chat\/main\/trip#message-/);
    await page.getByRole('region', { name: 'Messages' }).getByText('Where did we put the tent?').waitFor();
    await page.goBack();
    // The search text is still there.
    await memoryRow.waitFor();
    await page.getByRole('textbox', { name: 'Search memory' }).fill('zyxwvut');
    await page.getByText(/No results in memories, notes or the last month’s chats/).waitFor();
    await page.getByRole('textbox', { name: 'Search memory' }).press('Escape');

    const parts = page.getByRole('navigation', { name: 'Memory views' });
    await parts.getByRole('link', { name: 'Preferences' }).click();
    // One without a name is among the memories alone, and not denied.
    const { memory: rain } = await client.call('memory.add', { text: 'Likes rain', category: 'preference' });
    await page.getByText('No named preferences yet.').waitFor();
    await client.call('memory.forget', { id: rain.id });
    await page.getByLabel('Name').fill('language');
    await page.getByLabel('Preference', { exact: true }).fill('Answer in French');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    const language = page.getByRole('row').filter({ hasText: 'language' });
    await language.getByText('Answer in French').waitFor();
    await language.getByRole('button', { name: 'Edit' }).click();
    await page.keyboard.type('Answer in Portuguese');
    await page.keyboard.press('Enter');
    await language.getByText('Answer in Portuguese').waitFor();
    await waitFor(async () => (await describeFocus(page)) === 'Edit', 'the keyboard to be back');
    await takeScreenshots(page, 'preferences');
    // Its row has as much room above the words as below, and on a phone the words have the card's width; so has what is written.
    const languageRule = language.getByText('Answer in Portuguese');
    const [row, words] = [await language.boundingBox(), await languageRule.boundingBox()];
    if (!row || !words) throw new Error('the row is not there');
    expect(Math.abs(words.y - row.y - (row.y + row.height - words.y - words.height))).toBeLessThan(4);
    await page.setViewportSize({ width: 360, height: 800 });
    const share = async (of: Locator): Promise<number> =>
      ((await of.boundingBox())?.width ?? 0) / ((await language.boundingBox())?.width ?? 1);
    await waitFor(async () => (await share(language.getByRole('cell').first())) > 0.95, 'the width of the card');
    await language.getByRole('button', { name: 'Edit' }).click();
    expect(await share(language.getByRole('textbox'))).toBeGreaterThan(0.8);
    await page.keyboard.press('Escape');
    await page.setViewportSize({ width: 1280, height: 800 });
    await language.getByRole('button', { name: 'Delete' }).click();
    await waitFor(async () => (await client.call('memory.preferences', {})).preferences.length === 0);
    await language.getByRole('button', { name: 'Undo' }).click();
    await waitFor(async () => (await client.call('memory.preferences', {})).preferences[0]?.value === 'Answer in Portuguese');

    await parts.getByRole('link', { name: 'Days' }).click();
    await page.getByRole('img', { name: /^Memories from .*: 5$/ }).waitFor();
    await page.getByRole('img', { name: /^Messages from .*: 4$/ }).waitFor();
    const day = page.getByRole('list', { name: 'Days' }).getByRole('button', { name: '1 memory · notes' });
    await day.click();
    await page.getByRole('heading', { name: 'In the shed' }).waitFor();
    await page.getByRole('listitem').filter({ hasText: 'We chose the red paint' }).first().waitFor();
    await page.getByRole('list', { name: 'Days' }).getByRole('button', { name: 'Today' }).click();
    await page.getByRole('button', { name: 'Summarise this day' }).click();
    await page.getByText('Summary added to the notes').waitFor();
    expect(await unnamed(page)).toEqual([]);
    await takeScreenshots(page, 'days');
    const today = new Date().toISOString().slice(0, 10);
    expect((await client.call('memory.day', { date: today })).notes).not.toBeNull();
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });

  verifies('memory.app/follows', 'what others note comes by itself; another agent has another memory', async () => {
    using outside = await connectOutside(at.perch);
    const { client } = outside;
    await client.call('agents.add', { agent_id: 'scout', config: { name: 'Scout' } });
    await client.call('memory.add', { agentId: 'scout', text: 'Camp is by the river' });
    const page = await open('/memory?agent=scout');
    // From here on nothing is read anew because of another connection.
    await waitForConnection(page, 'This browser');
    await rows(page, 'Memories', 'Camp is by the river').waitFor();
    await client.call('memory.add', { agentId: 'scout', text: 'The ford is closed' });
    await rows(page, 'Memories', 'The ford is closed').waitFor();
    await client.call('memory.add', { text: 'Of the main agent alone' });
    await page.getByRole('combobox', { name: 'Agent' }).selectOption('main');
    await rows(page, 'Memories', 'Of the main agent alone').waitFor();
    expect(await rows(page, 'Memories', 'Camp is').count()).toBe(0);
    await page.getByRole('combobox', { name: 'Agent' }).selectOption({ label: 'Scout' });
    await rows(page, 'Memories', 'The ford is closed').waitFor();
    // An agent that is gone, as a sentence.
    await page.goto(`${at.perch.url}/memory?agent=nobody`);
    await page
      .getByRole('alert')
      .getByText(/^Couldn’t load the memories: /)
      .waitFor();
    await page.close();
  });

  verifies('memory.app/page', 'bidi control characters have no effect where a memory is shown; the memory itself keeps them', async () => {
    using outside = await connectOutside(at.perch);
    const text = 'The invoice is \u202egpj.exe\u202c by Ana';
    await outside.client.call('memory.add', { text });
    await outside.client.call('memory.setPreference', { key: 'opens \u202ewith', value: 'an \u2067editor' });
    const page = await open('/memory');
    const row = rows(page, 'Memories', 'The invoice is').first();
    await row.waitFor();
    expect(await row.getByText('The invoice').textContent()).toBe('The invoice is gpj.exe by Ana');
    await page.getByRole('navigation').getByRole('link', { name: 'Preferences' }).click();
    await page.getByRole('row', { name: 'opens with an editor' }).waitFor();
    const { memories } = await outside.client.call('memory.list', {});
    expect(memories.map((memory) => memory.text)).toContain(text);
    await page.close();
  });

  verifies('memory.app/long', 'five thousand memories: what is not come to is not on the page', async () => {
    using outside = await connectOutside(at.perch);
    const lines = Array.from(
      { length: 5000 },
      (_, each) => `- 2026-03-0${(each % 9) + 1} 10:${String(each % 60).padStart(2, '0')} [fact] Fact number ${each}\n`,
    );
    await outside.client.call('agents.add', { agent_id: 'archive', config: {} });
    await outside.client.call('workspace.write', { workspace: 'archive', path: 'MEMORY.md', content: lines.join(''), encoding: 'utf8' });
    const page = await open('/memory?agent=archive');
    await page.getByRole('button', { name: 'All 5,000' }).waitFor();
    const list = page.getByRole('list', { name: 'Memories' }).getByRole('listitem');
    expect(await list.count()).toBeLessThan(150);
    const before = await list.count();
    await list.last().scrollIntoViewIfNeeded();
    await waitFor(async () => (await list.count()) > before, 'more of them');
    // Further than what is loaded at first.
    await waitFor(async () => {
      await list.last().scrollIntoViewIfNeeded();
      return (await list.count()) > 250;
    }, 'further pages');
    await page.getByRole('textbox', { name: 'Search memory' }).fill('number 4321');
    await rows(page, 'Results', 'Fact number 4321').waitFor();
    await page.close();
  });

  verifies(
    ['memory.app/recalled', 'memory.app/linked'],
    'a reply says what it was told; forgotten there, switched off for the chat, and opened from the page',
    async () => {
      using outside = await connectOutside(at.perch);
      const { client } = outside;
      await client.call('memory.add', { text: 'The spare key of the boathouse is under the third flower pot', category: 'fact' });
      const page = await open('/');
      await page.getByRole('button', { name: /^Model:/ }).click();
      await page.getByRole('combobox', { name: 'Search models' }).fill('normal');
      await page.getByRole('option', { name: 'normal' }).click();
      const composer = page.getByRole('textbox', { name: 'Message' });
      await composer.fill('Where is the spare key of the boathouse?');
      await composer.press('Enter');
      const line = page.getByText('Used 1 memory');
      await line.waitFor();
      await line.click();
      const details = page.locator('details').filter({ has: line });
      await details.getByText('under the third flower pot').waitFor();
      await details.getByText(/Mentions .*“key”/).waitFor();
      await details.getByText(/remembered, fact/i).waitFor();
      await page.getByRole('article', { name: 'Reply' }).getByRole('button', { name: 'Copy reply' }).waitFor();
      expect(await unnamed(page)).toEqual([]);
      await takeScreenshots(page, 'chat');
      // From history.
      await page.reload();
      await waitForConnection(page, LINKED_STATUS);
      await line.click();
      await details.getByRole('button', { name: 'Delete this memory' }).focus();
      await page.keyboard.press('Enter');
      await waitFor(async () => (await describeFocus(page)) === 'Undo', 'the keyboard to be on the way back');
      await waitFor(async () => !(await client.call('memory.list', {})).memories.some(({ text }) => text.includes('flower pot')));
      await page.keyboard.press('Enter');
      await details.getByRole('button', { name: 'Delete this memory' }).waitFor();
      await waitFor(async () => (await client.call('memory.list', {})).memories.some(({ text }) => text.includes('flower pot')));

      await details.getByRole('button', { name: 'Don’t use memories in this chat' }).click();
      await details.getByRole('button', { name: 'Use memories in this chat', exact: true }).waitFor();
      const path = `${new URL(page.url()).pathname.slice('/chat/'.length)}.jsonl`;
      expect(await client.call('sessions.recall', { path })).toMatchObject({ enabled: false, active: false });
      await composer.fill('And where is the spare key of the boathouse now?');
      await composer.press('Enter');
      const replies = page.getByRole('article', { name: 'Reply' });
      await waitFor(async () => (await replies.count()) === 2 && (await page.getByRole('button', { name: 'Stop' }).count()) === 0);
      expect(await line.count()).toBe(1);
      // The chat's menu has the switch too.
      const [, sessionId = ''] = path.slice(0, -'.jsonl'.length).split('/');
      await page.getByRole('button', { name: /^More actions for Where is the spare key/ }).click();
      await page.getByRole('menuitem', { name: 'Use memories in this chat' }).click();
      await waitFor(async () => (await client.call('sessions.recall', { path })).enabled);
      await page.getByRole('button', { name: 'Undo' }).click();
      await waitFor(async () => !(await client.call('sessions.recall', { path })).enabled);

      // The recall is shown while the reply streams.
      await page.getByRole('link', { name: 'New chat' }).first().click();
      await page.getByRole('button', { name: /^Model:/ }).click();
      await page.getByRole('combobox', { name: 'Search models' }).fill('endless');
      await page.getByRole('option', { name: 'endless' }).click();
      await composer.fill('Which flower pot hides the boathouse key?');
      await composer.press('Enter');
      await line.waitFor();
      expect(await page.getByRole('button', { name: 'Stop' }).count()).toBe(1);
      await page.getByRole('button', { name: 'Stop' }).click();
      await page.getByRole('article', { name: 'Reply' }).last().getByText('Stopped').waitFor();
      expect(await line.count()).toBe(1);

      // From the page to the reply, far above the end.
      for (let each = 0; each < 40; each++) await client.call('chat.send', { message: `Filler ${each}`, sessionId, model: 'local/normal' });
      await page.goto(`${at.perch.url}/memory#recalled`);
      const entry = rows(page, 'Memories used in replies', 'Where is the spare key').first();
      await entry.getByText('under the third flower pot').waitFor();
      expect(await unnamed(page)).toEqual([]);
      await takeScreenshots(page, 'recalled');
      await entry.getByRole('link', { name: 'Where is the spare key of the boathouse?' }).click();
      await page.waitForURL(/#message-/);
      await waitFor(
        () =>
          page.getByText('Used 1 memory').evaluate((element) => {
            const { top } = element.getBoundingClientRect();
            return top > 0 && top < innerHeight;
          }),
        'the reply to be in sight',
      );
      await page.goto(`${at.perch.url}/chat/main/${sessionId}#message-nonsense`);
      await page.getByText('Message not found.').waitFor();
      expect(at.browser.complaints).toEqual([]);
      await page.close();
    },
  );

  verifies('memory.app/import', 'a pasted list is shown, chosen, added once, and waits for review', async () => {
    using outside = await connectOutside(at.perch);
    const { client } = outside;
    const add = async (text: string, use?: (page: Page) => Promise<void>): Promise<void> => {
      const page = await open('/memory');
      await page.getByRole('button', { name: 'Import…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Import memories' });
      await dialog.getByLabel('Memories to import').fill(text);
      await use?.(page);
      await dialog.getByRole('button', { name: /^Import/ }).click();
      await dialog.getByText(/^Memories: /).waitFor();
      await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();
      await page.close();
    };
    const list = 'Here is what I remember:\n\n- Prefers rye bread\n- Rows a boat named Ida\n- Lives nowhere';
    await add(list, async (page) => {
      await page.getByRole('checkbox', { name: /nowhere/ }).uncheck();
      expect(await unnamed(page)).toEqual([]);
      await takeScreenshots(page, 'memory-import');
    });
    const { memories } = await client.call('memory.list', {});
    const added = memories.filter(({ text }) => /rye|Ida|nowhere/.test(text));
    expect(added.map(({ text, category }) => `${category}: ${text}`).sort()).toEqual([
      'fact: Rows a boat named Ida',
      'preference: Prefers rye bread',
    ]);
    const waiting = (await client.call('review.list', {})).items;
    expect(waiting.map(({ kind, sources }) => [kind, sources])).toEqual([
      ['memory', ['import:memory list']],
      ['memory', ['import:memory list']],
    ]);
    await add('- Likes rain', (page) => page.getByLabel('I have read these').check());
    expect((await client.call('review.list', {})).count).toBe(2);
  });
});
