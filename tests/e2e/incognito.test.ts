import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright';
import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { readDatabasesAsText } from '../support/read-databases.ts';
import { waitFor } from '../support/test-gateway.ts';
import { findLowContrast, listControls, findOverflow, waitForNoProblems, tabThroughPage } from './accessibility.ts';
import { useReplyFixture, sendMessage, replies } from './reply-fixture.ts';
import { waitForConnection, LINKED_STATUS } from './connection-status.ts';
import { getPaletteOptions, openPalette } from './palette.ts';
import { takeScreenshots } from './take-screenshots.ts';
import { openVaultMenu } from './vault-menu.ts';

// No list of words has them.
const SECRET = 'quinzelbark';
/** Content of an ordinary chat, to prove that the search finds stored text. */
const ORDINARY_TEXT = 'vormalisk';
const PIXEL = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');

const composer = (page: Page) => page.getByRole('textbox', { name: 'Message' });
const ownMessages = (page: Page) => page.getByRole('article', { name: 'Your message' });
const question = (page: Page) => page.getByRole('dialog', { name: 'Delete this chat?' });

/** Occurrences of the word in a text. */
const countOccurrences = (text: string): string[] => [...text.matchAll(new RegExp(`.{0,60}${SECRET}.{0,60}`, 'g'))].map(([found]) => found);

/** All that this browser keeps of the app, as one text. */
async function readBrowserData(page: Page): Promise<string> {
  const others = await page.evaluate(async () => {
    const cached = (await caches.keys()).map(async (name) => {
      const cache = await caches.open(name);
      const texts = (await cache.keys()).map(async (request) => `${request.url} ${await (await cache.match(request))?.text()}`);
      return [name, ...(await Promise.all(texts))].join('\n');
    });
    return [
      JSON.stringify({ ...localStorage }),
      JSON.stringify({ ...sessionStorage }),
      JSON.stringify(history.state),
      ...(await Promise.all(cached)),
    ];
  });
  return [await page.evaluate(readDatabasesAsText), ...others].join('\n').toLowerCase();
}

/** All that the bridge keeps, its journal and logs among it. */
const readBridgeData = (home: string): string =>
  readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => `${name} ${readFileSync(join(parentPath, name), 'latin1')}`)
    .join('\n')
    .toLowerCase();

describe('an incognito chat', () => {
  const at = useReplyFixture();

  verifies(['incognito/page', 'incognito/page-forgets'], 'is like any chat while it is there, and gone without a trace', async () => {
    const page = await at.browser.page(at.perch.url);
    const dialogs: string[] = [];
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.type());
      void dialog.accept();
    });
    await waitForConnection(page, LINKED_STATUS);
    await (await openVaultMenu(page)).getByRole('link', { name: 'Incognito chat', exact: true }).click();
    await page.getByText('This chat isn’t saved').waitFor();
    await takeScreenshots(page, 'incognito-empty');

    const answer = at.model.beginReply();
    await sendMessage(page, `The ${SECRET} question`);
    await answer.sendReasoning(`Some **${SECRET}** thoughts`);
    await answer.sendText(`The **${SECRET}** answer`);
    await replies(page).locator('strong', { hasText: SECRET }).last().waitFor();
    // One at a time.
    await composer(page).fill(`A ${SECRET} draft`);
    await composer(page).press('Enter');
    expect(await composer(page).inputValue()).toBe(`A ${SECRET} draft`);
    expect(await page.getByRole('button', { name: /^Send/ }).count()).toBe(0);
    await page.getByRole('button', { name: 'Stop' }).click();
    await replies(page).getByText('Stopped').waitFor();
    await replies(page).locator('details').getByText('Thought for').waitFor();

    at.model.queueReply(`Another ${SECRET} answer\n\n\`\`\`js\nconst ${SECRET} = 1;\n\`\`\``, {
      ...{ prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
    });
    await page.getByRole('button', { name: 'Regenerate' }).last().click();
    await replies(page).getByText('18 tokens').waitFor();
    expect(await replies(page).count()).toBe(1);
    expect(await replies(page).getByText('Stopped').count()).toBe(0);

    at.model.queueReply(`The edited ${SECRET} answer`);
    await ownMessages(page).getByRole('button', { name: 'Edit message' }).last().click();
    await page.getByRole('textbox', { name: 'Edit your message' }).fill(`Edited ${SECRET}`);
    await page.getByRole('textbox', { name: 'Edit your message' }).press('Control+Enter');
    await replies(page).getByText(`The edited ${SECRET} answer`).waitFor();
    expect(await ownMessages(page).count()).toBe(1);

    await page.locator('input[type=file]').setInputFiles({ name: `${SECRET}.png`, mimeType: 'image/png', buffer: PIXEL });
    await page.getByRole('button', { name: `Remove ${SECRET}.png` }).waitFor();
    at.model.queueReply('I see one pixel.');
    await sendMessage(page, `What is on the ${SECRET} picture?`);
    await replies(page).getByText('I see one pixel.').waitFor();
    await ownMessages(page)
      .getByRole('img', { name: `${SECRET}.png` })
      .waitFor();
    // Actions that would store its content are not offered.
    for (const name of [/^Annotate/, /^More actions for this/])
      expect(await page.locator('main').getByRole('button', { name }).count()).toBe(0);
    await composer(page).fill(`Another ${SECRET} draft`);
    await takeScreenshots(page, 'incognito');
    expect((await listControls(page)).filter((each) => each.endsWith('""'))).toEqual([]);
    const { unfocused, withoutFocusRing } = await tabThroughPage(page);
    const wrong = [...unfocused, ...withoutFocusRing];
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      wrong.push(...(await waitForNoProblems(() => findLowContrast(page), colorScheme)));
    }
    await page.setViewportSize({ width: 320, height: 500 });
    wrong.push(...(await waitForNoProblems(() => findOverflow(page), '320 px')));
    await page.setViewportSize({ width: 1280, height: 800 });
    expect(wrong).toEqual([]);

    // Within the app a question of its own; on the way out the browser's.
    await page.getByRole('link', { name: 'New chat' }).first().click();
    await question(page).getByRole('button', { name: 'Keep chat' }).click();
    await replies(page).getByText('I see one pixel.').waitFor();
    expect(await page.title()).toBe('Incognito · Perch');
    await page.reload();
    expect(dialogs).toEqual(['beforeunload']);
    await page.getByText('Chat without saving').waitFor();
    expect(await ownMessages(page).count()).toBe(0);
    expect(await composer(page).inputValue()).toBe('');
    await waitForConnection(page, LINKED_STATUS);

    // Left in the middle of an answer, which ends with it.
    const left = at.model.beginReply();
    await sendMessage(page, `A last ${SECRET} question`);
    await left.sendText(`A last ${SECRET} answer`);
    await replies(page).getByText(`A last ${SECRET} answer`).waitFor();
    const field = await openPalette(page);
    await field.fill('archive');
    await getPaletteOptions(page, 'Pages').filter({ hasText: 'Chats' }).click();
    await question(page).getByRole('button', { name: 'Delete and leave' }).click();
    await page.waitForURL('**/sessions');
    expect(await page.locator('body').innerHTML()).not.toContain(SECRET);
    await page.goBack();
    await page.getByText('Chat without saving').waitFor();
    expect(await composer(page).inputValue()).toBe('');

    at.model.queueReply('An ordinary answer');
    await page.getByRole('link', { name: 'New chat' }).first().click();
    await page.getByText('Chat without saving').waitFor({ state: 'detached' });
    await sendMessage(page, `The ${ORDINARY_TEXT} question`);
    await replies(page).getByText('An ordinary answer').waitFor();
    await waitFor(
      async () => (await readBrowserData(page)).includes(ORDINARY_TEXT) && readBridgeData(at.perch.home).includes(ORDINARY_TEXT),
      'what is kept',
    );
    expect(countOccurrences(await readBrowserData(page))).toEqual([]);
    expect(countOccurrences(readBridgeData(at.perch.home))).toEqual([]);
    const client = await at.perch.client();
    expect((await client.call('sessions.list', {})).sessions.map(({ title }) => title)).toEqual([`The ${ORDINARY_TEXT} question`]);
    expect((await client.call('sessions.search', { query: SECRET })).results).toEqual([]);
    expect(JSON.stringify(await client.call('logs.tail', { limit: 1000, json: true }))).not.toContain(SECRET);
    expect(at.browser.foreignRequests).toEqual([]);
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });

  verifies('incognito/page', 'a failure says what happened, with a way to retry; forgetting starts over', async () => {
    const page = await at.browser.page(`${at.perch.url}/incognito`);
    await waitForConnection(page, LINKED_STATUS);
    // Its server has nothing to say: no words, no end that is one.
    const cut = at.model.beginReply();
    await sendMessage(page, 'Is anybody there?');
    await cut.sendText('Half an ');
    await replies(page).getByText('Half an').waitFor();
    at.model.closeConnections();
    await replies(page).getByRole('alert').waitFor();
    at.model.queueReply('A whole answer');
    await replies(page).getByRole('button', { name: 'Retry' }).click();
    await replies(page).getByText('A whole answer').waitFor();
    expect(await replies(page).getByRole('alert').count()).toBe(0);
    await page.getByRole('button', { name: 'Delete chat', exact: true }).click();
    await question(page).getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Chat without saving').waitFor();
    expect(await composer(page).evaluate((field) => field === document.activeElement)).toBe(true);
    await page.close();
  });

  verifies('incognito/demo', 'answers in the demo', async () => {
    const page = await at.browser.page(`${at.perch.url}/?demo`);
    await page.getByText('This is a demo.').waitFor();
    await (await openVaultMenu(page)).getByRole('link', { name: 'Incognito chat', exact: true }).click();
    await page.getByText('This chat isn’t saved').waitFor();
    await sendMessage(page, 'Compare ways to sort.');
    await replies(page).getByRole('table').waitFor();
    await page.getByRole('button', { name: 'Delete chat', exact: true }).click();
    await question(page).getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Chat without saving').waitFor();
    expect(await replies(page).count()).toBe(0);
    await page.close();
  });
});
