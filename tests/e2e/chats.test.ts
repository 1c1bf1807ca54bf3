import { readFileSync } from 'node:fs';
import { BlobReader, type FileEntry, TextReader, TextWriter, Uint8ArrayWriter, ZipReader, ZipWriter } from '@zip.js/zip.js';
import type { Locator, Page } from 'playwright';
import { beforeAll, describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { findLowContrast, findOverflow, waitForNoProblems, tabThroughPage } from './accessibility.ts';
import { launchBrowser } from './test-browser.ts';
import { waitForConnection, LINKED_STATUS, openLinkedPage } from './connection-status.ts';
import { getPaletteOptions, openPalette } from './palette.ts';
import { startPerch } from './perch-process.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { takeScreenshots } from './take-screenshots.ts';

const sidebar = (page: Page) => page.getByRole('navigation', { name: 'Chats' });
const getListedChats = (page: Page, heading: string) =>
  sidebar(page)
    .locator('section')
    .filter({ has: page.getByRole('heading', { name: heading, exact: true }) })
    .locator('li .title');
const rows = (page: Page) => page.getByRole('table', { name: 'Chats' }).locator('tbody tr');
const getTitles = (page: Page) => rows(page).locator('.chat a').allInnerTexts();
const menu = async (page: Page, chat: string, item: string): Promise<void> => {
  await sidebar(page).getByText(chat, { exact: true }).hover();
  await sidebar(page)
    .getByRole('button', { name: `More actions for ${chat}` })
    .click();
  await page.getByRole('menuitem', { name: item, exact: true }).click();
};
const isInView = (place: Locator): Promise<boolean> =>
  place.evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  });
const getSelectBox = (page: Page, chat: string) => page.getByRole('checkbox', { name: `Select ${chat}`, exact: true });
const downloadBy = async (page: Page, press: () => Promise<void>): Promise<{ name: string; bytes: Buffer }> => {
  const [got] = await Promise.all([page.waitForEvent('download'), press()]);
  return { name: got.suggestedFilename(), bytes: readFileSync(await got.path()) };
};

/** A conversation as ChatGPT exports it: a question, an answer that was left, and one that was kept. */
function toChatGptConversation(id: string, title: string): object {
  const toExportMessage = (role: string, text: string, parent: string | null) => ({
    ...{ parent, children: [] },
    message: { author: { role }, create_time: 1_600_000_000, content: { content_type: 'text', parts: [text] }, metadata: {} },
  });
  const mapping = {
    q: toExportMessage('user', `About ${title}?`, null),
    no: toExportMessage('assistant', 'No.', 'q'),
    yes: toExportMessage('assistant', 'Yes.', 'q'),
  };
  return { conversation_id: id, title, create_time: 1_600_000_000, current_node: 'yes', mapping };
}

describe('chats in order', () => {
  const at = useGatewayAndBrowser();
  // For any of them alone, too: a page that is not linked keeps its chats to itself, where programs ask another host.
  beforeAll(async () => {
    const page = await openLinkedPage(at.browser, at.perch);
    await page.close();
  });

  verifies('chats.app/order', 'from its menu: pinned, in a folder with tags, archived and back', async () => {
    const page = await at.browser.page(at.perch.url);
    await waitForConnection(page, LINKED_STATUS);
    const client = await at.perch.client();
    for (const title of ['Alpha', 'Beta', 'Gamma']) {
      const sessionId = title.toLowerCase();
      await client.call('chat.send', { message: `/tool health {} ${title}`, sessionId, model: 'guide/guide' });
      await client.call('sessions.rename', { path: `main/${sessionId}.jsonl`, title });
    }
    await waitFor(async () => (await getListedChats(page, 'Today').allInnerTexts()).length === 3, 'three chats');
    await menu(page, 'Alpha', 'Pin');
    await waitFor(async () => (await getListedChats(page, 'Pinned').allInnerTexts()).join() === 'Alpha', 'Alpha above');
    expect(await getListedChats(page, 'Today').allInnerTexts()).toEqual(['Gamma', 'Beta']);

    await menu(page, 'Beta', 'Folder and tags…');
    await page.getByRole('combobox', { name: /^Folder / }).fill(' Work / Perch ');
    await page.getByRole('textbox', { name: /^Tags / }).fill(`birds, ${'long '.repeat(11)}`);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('alert').getByText('Tags can have up to 50 characters').waitFor();
    await page.getByRole('textbox', { name: /^Tags / }).fill('birds, code,birds, ');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const { sessions } = await client.call('sessions.list', { paths: ['main/beta.jsonl'] });
    expect(sessions[0]).toMatchObject({ folder: 'Work/Perch', tags: ['birds', 'code'] });

    await menu(page, 'Gamma', 'Archive');
    await page.getByText('“Gamma” archived').waitFor();
    await waitFor(async () => (await getListedChats(page, 'Today').allInnerTexts()).join() === 'Beta', 'Gamma gone');
    await page.getByRole('button', { name: 'Undo' }).click();
    await waitFor(async () => (await getListedChats(page, 'Today').allInnerTexts()).length === 2, 'Gamma back');
    await page.reload();
    await waitFor(async () => (await getListedChats(page, 'Pinned').allInnerTexts()).join() === 'Alpha', 'Alpha above still');
    const markdown = await downloadBy(page, () => menu(page, 'Beta', 'Export as Markdown'));
    expect(markdown.name).toBe('Beta.md');
    expect(markdown.bytes.toString()).toMatch(/^# Beta\n\n## You\n/);
    client.close();
    await page.close();
  });

  verifies(['chats.app/table', 'chats.app/order', 'chats.app/export'], 'several at once in their table', async () => {
    const page = await at.browser.page(`${at.perch.url}/sessions`);
    await waitForConnection(page, LINKED_STATUS);
    const client = await at.perch.client();
    await waitFor(async () => (await getTitles(page)).length === 3, 'three rows');
    await takeScreenshots(page, 'table');
    await getSelectBox(page, 'Beta').check();
    await getSelectBox(page, 'Gamma').check();
    await page.getByRole('group', { name: 'Selected chats' }).getByText('2 selected').waitFor();
    await takeScreenshots(page, 'chosen');
    const zip = await downloadBy(page, () => page.getByRole('button', { name: 'JSON Lines' }).click());
    expect(zip.name).toMatch(/^chats-\d{4}-\d\d-\d\d\.zip$/);
    const inside = (await new ZipReader(new BlobReader(new Blob([new Uint8Array(zip.bytes)]))).getEntries()) as FileEntry[];
    expect(inside.map(({ filename }) => filename).sort()).toEqual(['Beta.jsonl', 'Gamma.jsonl']);
    const exported = await client.call('sessions.export', { path: 'main/beta.jsonl' });
    expect(await inside.find(({ filename }) => filename === 'Beta.jsonl')?.getData(new TextWriter())).toBe(exported.content);

    // Tags are added to those that are there; the folder is the one for all.
    await page.getByRole('button', { name: 'Folder and tags…' }).click();
    await page.getByRole('combobox', { name: /^Folder / }).fill('Home');
    await page.getByRole('textbox', { name: /^Tags to add / }).fill('old');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const labels = async (): Promise<unknown[]> =>
      (await client.call('sessions.list', {})).sessions.map(({ title, folder, tags }) => [title, folder, ...tags]).sort();
    expect(await labels()).toEqual([
      ['Alpha', null],
      ['Beta', 'Home', 'birds', 'code', 'old'],
      ['Gamma', 'Home', 'old'],
    ]);

    await page.getByLabel(/^\s*Tag\b/).selectOption('birds');
    await waitFor(async () => (await getTitles(page)).join() === 'Beta', 'what has the tag');
    // Chats that are no longer visible are deselected.
    await page.getByRole('group', { name: 'Selected chats' }).getByText('1 selected').waitFor();
    await page.getByLabel(/^\s*Tag\b/).selectOption('');
    await page.getByLabel('Find chats').fill('gamm');
    await waitFor(async () => (await getTitles(page)).join() === 'Gamma', 'what is looked for');
    await getSelectBox(page, 'Gamma').check();
    await page.getByRole('button', { name: 'Archive', exact: true }).click();
    await page.getByText('Chats archived: 1', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Chats unarchived: 1', { exact: true }).waitFor();
    await getSelectBox(page, 'Gamma').check();
    await page.getByRole('button', { name: 'Archive', exact: true }).click();
    await page.getByText('No matching chats').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await waitFor(async () => (await getTitles(page)).join() === 'Beta,Alpha', 'the others');
    await page.getByLabel(/^\s*Show\b/).selectOption({ label: 'Archived' });
    await waitFor(async () => (await getTitles(page)).join() === 'Gamma', 'the archived one');

    await getSelectBox(page, 'Gamma').check();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('No matching chats').waitFor();
    // Undone, deleted again, and restored from the trash.
    const toast = page.locator('[data-sonner-toast]', { hasText: 'Chats deleted: 1' });
    await toast.getByRole('button', { name: 'Undo' }).click();
    await getSelectBox(page, 'Gamma').check();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('No matching chats').waitFor();
    await page.getByRole('link', { name: 'Trash' }).click();
    const deleted = page.getByRole('listitem', { name: 'Gamma' });
    await deleted.getByRole('button', { name: 'Restore' }).click();
    await page.getByText('The trash is empty').waitFor();
    await page.getByRole('button', { name: 'Open' }).click();
    await page.waitForURL(/\/chat\/main\//);
    await client.call('sessions.delete', { path: /(main\/.+)$/.exec(page.url())?.[1]?.concat('.jsonl') ?? '' });
    await page.goto(`${at.perch.url}/trash`);
    await deleted.getByRole('button', { name: 'Delete permanently' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete permanently' }).click();
    await page.getByText('The trash is empty').waitFor();
    expect((await client.call('sessions.list', {})).sessions.map(({ title }) => title)).toEqual(['Beta', 'Alpha']);
    client.close();
    await page.close();
  });

  verifies('chats.app/table', 'it is read when it is come to, and not again while nothing changes', async () => {
    // The tab stays a replica, so that what it asks for can be counted.
    await using perch = await startPerch({ host: 'headless' });
    await using browser = await launchBrowser();
    const page = await browser.page(perch.linkUrl);
    await waitForConnection(page, 'Connected');
    let dialogCount = 0;
    page.on('websocket', (socket) =>
      socket.on('framesent', ({ payload }) => void (String(payload).includes('"sessions.list"') && dialogCount++)),
    );
    await page.goto(`${perch.url}/sessions`);
    await waitForConnection(page, 'Connected');
    await page.getByRole('heading', { name: 'No chats yet' }).waitFor();
    await waitFor(async () => {
      const before = dialogCount;
      await new Promise((later) => setTimeout(later, 500));
      return dialogCount === before;
    }, 'nothing to be asked any more');
    expect(dialogCount).toBeLessThan(20);
  });

  verifies(['chats.app/import', 'chats.app/import-bad'], 'from files, each chat once; invalid files are reported by name', async () => {
    const page = await at.browser.page(`${at.perch.url}/sessions`);
    await waitForConnection(page, LINKED_STATUS);
    const client = await at.perch.client();
    await page.getByRole('button', { name: 'Import…' }).click();
    const json = JSON.stringify([toChatGptConversation('c-1', 'Cats <b>'), toChatGptConversation('c-2', 'Dogs')]);
    const file = (name: string, content: string) => ({ name, mimeType: 'application/json', buffer: Buffer.from(content) });
    const give = (...files: ReturnType<typeof file>[]) => page.getByLabel('Chat files').setInputFiles(files);
    await give(file('conversations.json', json), file('cut.json', json.slice(0, -9)), file('<img src=x onerror=alert(1)>.json', '{}'));
    await page.getByText('2 chats imported').waitFor();
    await page.getByText('cut.json wasn’t imported: the file isn’t valid JSON').waitFor();
    await page.getByText('<img src=x onerror=alert(1)>.json wasn’t imported').waitFor();
    // A name that would turn the words behind it around is written out.
    await give(file('gpj.\u202egnp.json', '{}'));
    await page.getByText('gpj.\\u{202e}gnp.json wasn’t imported').waitFor();
    await takeScreenshots(page, 'import');
    // Errors of the gateway about an import are translated too.
    await give(file('cut.jsonl', `${JSON.stringify({ id: 'a', role: 'user', content: 'hi', timestamp: 1 })}\n{"id":"b","ro`));
    await page.getByText('cut.jsonl wasn’t imported: line 2 isn’t a chat message').waitFor();
    // In a zip each file stands for itself.
    const zip = new ZipWriter(new Uint8ArrayWriter());
    await zip.add('About.md', new TextReader('# About these\n\nSaved on Monday'));
    await zip.add('Birds.md', new TextReader('# Birds\n\n## You\n\nWhat is a bird?'));
    await give({ name: 'chats.zip', mimeType: 'application/zip', buffer: Buffer.from(await zip.close()) });
    await page.getByText('1 chat imported').waitFor();
    await page.getByText('About.md wasn’t imported: the Markdown file has no messages').waitFor();
    await takeScreenshots(page, 'import-zip');
    await give(file('conversations.json', json));
    await page.getByText('2 chats already imported').waitFor();
    await page.getByRole('button', { name: 'Close', exact: true }).last().click();
    await waitFor(async () => (await getTitles(page)).slice(-2).sort().join() === 'Cats <b>,Dogs', 'those brought in, at their time');
    expect(await rows(page).last().locator('time').getAttribute('datetime')).toMatch(/^2020-09-13/);

    // Imported chats do not count as unread.
    const listed = page
      .getByRole('navigation', { name: 'Chats' })
      .getByRole('listitem')
      .filter({ hasText: /Cats <b>|Dogs/ });
    await waitFor(async () => (await listed.count()) === 2, 'both to be in the sidebar');
    expect(await listed.getByText('unread').count()).toBe(0);
    await rows(page).last().locator('.chat a').click();
    await page.getByRole('article', { name: 'Reply' }).getByText('Yes.').waitFor();
    // The answer that was left is a branch.
    const { messages } = await client.call('sessions.preview', { path: 'main/import-c-1.jsonl' });
    expect(messages.map(({ content }) => content)).toEqual(['About Cats <b>?', 'Yes.']);
    const { content } = await client.call('sessions.export', { path: 'main/import-c-1.jsonl' });
    expect(content.trim().split('\n')).toHaveLength(3);
    client.close();
    await page.close();
  });

  verifies('app/found-message', 'of a long chat that is open already, by Enter and by the mouse', async () => {
    const client = await at.perch.client();
    const longMessages = Array.from({ length: 400 }, (_, nth) => ({
      ...{ id: `m${nth}`, parentId: nth === 0 ? null : `m${nth - 1}`, timestamp: 1_700_000_000_000 + nth },
      ...{ role: nth % 2 ? 'assistant' : 'user', content: `Saying number ${nth}` },
    }));
    await client.call('sessions.import', { sessionId: 'long', content: longMessages.map((each) => JSON.stringify(each)).join('\n') });
    const page = await at.browser.page(`${at.perch.url}/chat/main/long`);
    await waitForConnection(page, LINKED_STATUS);
    await page.getByText('Saying number 399').waitFor();
    const option = getPaletteOptions(page, 'Chats').filter({ hasText: /Saying number/ });
    for (const [nth, open] of [
      // The first but one of those that are there: what stands above is read once it is come to.
      [201, () => page.keyboard.press('Enter')],
      [123, () => page.keyboard.press('Enter')],
      [321, () => option.click()],
    ] as const) {
      const search = await openPalette(page);
      await search.fill(`"saying number ${nth}"`);
      await option.getByText(`Saying number ${nth}`).waitFor();
      await open();
      await page.waitForURL(/\/chat\/main\/long#message-/);
      const above = page.getByRole('article').getByText(`Saying number ${nth - 11}`, { exact: true });
      await above.waitFor({ state: 'attached' });
      await expect.poll(() => isInView(page.getByRole('article').getByText(`Saying number ${nth}`, { exact: true }))).toBe(true);
    }
    client.close();
    await page.close();
  });

  verifies(
    'chats.app/table',
    'all that fit at once, those further down too; from one to another with Shift, its buttons in sight',
    async () => {
      const client = await at.perch.client();
      const page = await at.browser.page(`${at.perch.url}/sessions`);
      await waitForConnection(page, LINKED_STATUS);
      await page.getByRole('button', { name: 'Import…' }).click();
      const buffer = Buffer.from(
        JSON.stringify(Array.from({ length: 120 }, (_, nth) => toChatGptConversation(`many-${nth}`, `Many ${nth}`))),
      );
      await page.getByLabel('Chat files').setInputFiles({ name: 'many.json', mimeType: 'application/json', buffer });
      await page.getByText('120 chats imported').waitFor();
      await page.getByRole('button', { name: 'Close', exact: true }).last().click();
      await waitFor(async () => (await rows(page).count()) === 100, 'the first hundred');
      // Before its end is in sight.
      await rows(page).nth(88).scrollIntoViewIfNeeded();
      await waitFor(async () => (await rows(page).count()) > 100, 'the others');
      const chosen = page.getByRole('group', { name: 'Selected chats' });
      const box = (nth: number) => rows(page).nth(nth).getByRole('checkbox');
      await box(3).click();
      await box(60).click({ modifiers: ['Shift'] });
      await chosen.getByText('58 selected').waitFor();
      expect(await isInView(chosen)).toBe(true);
      await box(58).click({ modifiers: ['Shift'] });
      await chosen.getByText('55 selected').waitFor();
      // By keys, and upwards.
      await box(57).press('Space');
      await box(50).press('Shift+Space');
      await chosen.getByText('47 selected').waitFor();
      const all = page.getByRole('checkbox', { name: 'Select all' });
      await all.check();
      const { sessions: listed } = await client.call('sessions.list', {});
      await chosen.getByText(`${listed.length} selected`).waitFor();
      await all.uncheck();
      await page.getByLabel('Find chats').fill('many');
      await page.getByText('120 matching chats').waitFor();
      await all.check();
      await chosen.getByText('120 selected').waitFor();
      await takeScreenshots(page, 'all-chosen');
      await chosen.getByRole('button', { name: 'Delete', exact: true }).click();
      await page.getByText('No matching chats').waitFor();
      const { sessions } = await client.call('sessions.list', {});
      expect(sessions.filter(({ title }) => title.startsWith('Many'))).toEqual([]);
      client.close();
      await page.close();
    },
  );

  verifies('chats.app/table', 'by keyboard, in both schemes, from 320 px on', async () => {
    const client = await at.perch.client();
    const beta = (await client.call('sessions.list', {})).sessions.find(({ title }) => title === 'Beta');
    await client.call('sessions.move', { path: beta?.path ?? '', folder: 'A folder with a name that is longer than a phone is wide' });
    client.close();
    const page = await at.browser.page(`${at.perch.url}/sessions`);
    await waitForConnection(page, LINKED_STATUS);
    await rows(page).first().waitFor();
    await page.getByLabel('Folder').waitFor();
    await getSelectBox(page, 'Beta').check();
    expect(await tabThroughPage(page)).toMatchObject({ unfocused: [], withoutFocusRing: [] });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await waitForNoProblems(() => findLowContrast(page), colorScheme)).toEqual([]);
    }
    for (const width of [320, 768, 1920]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await waitForNoProblems(() => findOverflow(page), `${width}`)).toEqual([]);
    }
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });

  verifies(
    ['chats.app/marks', 'chats.app/select'],
    'what waits for a person, is written or unread is marked in both lists; several are chosen from the sidebar',
    async () => {
      const page = await at.browser.page(await at.perch.open());
      await waitForConnection(page, LINKED_STATUS);
      const client = await at.perch.client();
      await client.call('agents.add', { agent_id: 'editor', config: { name: 'Editor' } });
      await client.call('chat.send', {
        message: 'Somebody else answered',
        sessionId: 'read-later',
        agentId: 'editor',
        model: 'guide/guide',
      });
      const waits = client.call('chat.send', {
        ...{ message: '/tool exec {"command": "echo", "args": ["x"]}', sessionId: 'asks', model: 'guide/guide' },
      });
      const row = (title: string | RegExp) => sidebar(page).getByRole('listitem').filter({ hasText: title });
      await row('/tool exec').getByText('Waiting for your approval').waitFor();
      await row('Somebody else answered').getByText('Editor', { exact: true }).waitFor();
      await row('Somebody else answered').getByText('Unread', { exact: true }).waitFor();
      await sidebar(page)
        .getByRole('link', { name: /^Automations/ })
        .getByText('1')
        .first()
        .waitFor();
      await takeScreenshots(page, 'marks');

      await menu(page, 'Somebody else answered', 'Select multiple…');
      await page.waitForURL(/\/sessions$/);
      await waitFor(() => getSelectBox(page, 'Somebody else answered').isChecked(), 'that chat to be chosen');
      await rows(page).filter({ hasText: '/tool exec' }).getByText('Waiting for your approval').waitFor();
      await rows(page).filter({ hasText: '/tool exec' }).getByRole('checkbox').check();
      await page.getByText('2 selected').waitFor();
      await takeScreenshots(page, 'marks-table');
      for (const width of [360, 1280]) {
        await page.setViewportSize({ width, height: 800 });
        expect(await waitForNoProblems(() => findOverflow(page), 'too wide')).toEqual([]);
      }
      // Once it is said, it waits no more.
      const [approval] = (await client.call('approvals.list', {})).approvals;
      await client.call('approvals.resolve', { id: approval?.id ?? '', decision: 'deny' });
      await waits;
      await rows(page).filter({ hasText: '/tool exec' }).getByText('Unread', { exact: true }).waitFor();
      await row('/tool exec').getByText('Waiting for your approval').waitFor({ state: 'detached' });
      client.close();
      expect(at.browser.complaints).toEqual([]);
      await page.close();
    },
  );

  verifies('chats.app/order', 'on a phone what was archived is brought back from where the chats are', async () => {
    const client = await at.perch.client();
    await client.call('chat.send', { message: '/tool health', sessionId: 'phone', model: 'guide/guide' });
    await client.call('sessions.rename', { path: 'main/phone.jsonl', title: 'On the phone' });
    const page = await at.browser.page();
    await page.setViewportSize({ width: 360, height: 780 });
    await page.goto(at.perch.url);
    await page.getByRole('button', { name: 'Show sidebar' }).click();
    await sidebar(page).getByText('On the phone', { exact: true }).waitFor();
    await menu(page, 'On the phone', 'Archive');
    await sidebar(page).getByText('On the phone', { exact: true }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Undo' }).click();
    await sidebar(page).getByText('On the phone', { exact: true }).waitFor();
    client.close();
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });

  verifies('chats.app/folders', 'those in folders by folder, folded and unfolded, as they are left; the others by date', async () => {
    const client = await at.perch.client();
    for (const [sessionId, folder] of Object.entries({ tea: 'Home 10', oak: 'Home 2', elm: 'Home 2', fir: null })) {
      const path = `main/${sessionId}.jsonl`;
      await client.call('chat.send', { message: '/tool health', sessionId, model: 'guide/guide' });
      await client.call('sessions.rename', { path, title: sessionId });
      if (folder !== null) await client.call('sessions.move', { path, folder });
    }
    const page = await at.browser.page(at.perch.url);
    await waitForConnection(page, LINKED_STATUS);
    await waitFor(async () => (await getListedChats(page, 'Today').allInnerTexts()).includes('fir'), 'the chats by date');
    expect(await getListedChats(page, 'Today').allInnerTexts()).toEqual(expect.arrayContaining(['tea', 'oak', 'elm', 'fir']));
    // After a chat is moved to a folder, a link to the folder is offered.
    await menu(page, 'fir', 'Folder and tags…');
    await page.getByRole('combobox', { name: /^Folder / }).fill('Forest');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('button', { name: 'Group by folder' }).click();
    const folders = sidebar(page).locator('.list summary');
    const folder = (name: string) =>
      sidebar(page)
        .locator('.list details')
        .filter({ has: page.getByText(name, { exact: true }) });
    const within = (name: string) => folder(name).locator('li .title');
    // Other tests have some, too; 2 comes before 10.
    const names = async (): Promise<string> =>
      (await folders.locator('.name').allInnerTexts()).filter((name) => /^(Forest|Home)/.test(name)).join();
    await waitFor(async () => (await names()) === 'Forest,Home 2,Home 10', 'the folders in order');
    expect(await folder('Home 2').locator('.end').innerText()).toMatch(/2$/);
    await folder('Forest').getByText('Unread', { exact: true }).waitFor();
    expect(await getListedChats(page, 'Today').allInnerTexts()).not.toContain('oak');
    await folder('Home 2').locator('summary').focus();
    await page.keyboard.press('Enter');
    await waitFor(async () => (await within('Home 2').allInnerTexts()).join() === 'elm,oak', 'what is in it, the newest first');
    await takeScreenshots(page, 'folders');
    expect(await waitForNoProblems(() => findLowContrast(page), 'low contrast')).toEqual([]);
    await folder('Home 2').getByText('oak', { exact: true }).click();
    await page.waitForURL(/\/chat\/main\/oak$/);
    // The state is kept, and changes by others appear.
    await page.reload();
    await waitFor(async () => (await within('Home 2').allInnerTexts()).join() === 'elm,oak', 'the folder as it was left');
    expect(await folder('Forest').getByText('Unread', { exact: true }).count()).toBe(1);
    await client.call('sessions.move', { path: 'main/elm.jsonl', folder: 'Home 10' });
    await waitFor(async () => /2$/.test(await folder('Home 10').locator('.end').innerText()), 'elm in the other folder');
    expect(await within('Home 2').allInnerTexts()).toEqual(['oak']);
    // The chat on screen is in sight, until its folder is folded.
    await page.goto(`${at.perch.url}/chat/main/tea`);
    await waitFor(async () => (await within('Home 10').allInnerTexts()).join() === 'elm,tea', 'its folder to open');
    await folder('Home 10').locator('summary').click();
    await waitFor(async () => (await within('Home 10').count()) === 0, 'it to be folded');

    await page.goto(`${at.perch.url}/settings#appearance`);
    const choice = page.getByRole('radiogroup', { name: 'Chats in the sidebar' });
    expect(await choice.getByRole('radio', { name: 'By folder' }).isChecked()).toBe(true);
    await choice.getByText('By date', { exact: true }).click();
    await waitFor(async () => (await getListedChats(page, 'Today').allInnerTexts()).includes('oak'), 'the chats by date again');
    expect(await folders.count()).toBe(0);
    client.close();
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });
});
