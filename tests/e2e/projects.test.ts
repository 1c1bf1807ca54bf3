import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { startUpstream, type Upstream } from '../test-upstream.ts';
import { runAxe } from './axe.ts';
import { LINKED_STATUS, openLinkedPage, waitForConnection } from './connection-status.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { addProvider, connectOutside } from './outside-client.ts';
import { takeScreenshots } from './take-screenshots.ts';

const NAME = 'Kitchen renovation';

describe('projects in the app', () => {
  const at = useGatewayAndBrowser();
  let upstream: Upstream;
  beforeAll(async () => {
    upstream = await startUpstream({ models: ['normal'] });
  });
  afterAll(() => upstream.close());

  verifies('projects/app', 'one is made, gets a chat and another one, is exported and deleted, and comes back', async () => {
    const page = await openLinkedPage(at.browser, at.perch);
    using outside = await connectOutside(at.perch);
    const { client } = outside;
    await addProvider(client, upstream.url);
    await client.call('config.patch', { patch: { chat: { model: 'local/normal', titles: false } } });
    await client.call('chat.send', { message: 'Which tiles?', sessionId: 'tiles' });

    const sidebar = page.getByRole('navigation', { name: 'Chats' });
    await sidebar.getByRole('button', { name: 'New project' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill(NAME);
    await page.getByRole('button', { name: 'Create project' }).click();
    await page.getByRole('heading', { name: NAME, level: 1 }).waitFor();
    await page.getByRole('tab', { name: 'Instructions' }).click();
    await page.getByLabel('Instructions for the chats of this project').fill('The budget is 4,000 euros.');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Project saved').waitFor();

    // A new chat in it is answered with its instructions.
    const calls = upstream.requests.length;
    await page.getByRole('main').getByRole('link', { name: 'New chat', exact: true }).click();
    await page.getByRole('main').getByRole('link', { name: NAME }).waitFor();
    await page.getByRole('main').getByRole('textbox').first().fill('What comes first?');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/chat\/main\//);
    await page.getByText('Hello wörld').first().waitFor();
    expect(JSON.stringify(upstream.requests.slice(calls).map(({ body }) => body))).toContain('The budget is 4,000 euros.');

    // A chat from outside is dragged onto it.
    await sidebar.getByRole('link', { name: /Which tiles/ }).dragTo(sidebar.getByRole('link', { name: NAME, exact: true }));
    await page.getByText(`Chat moved to “${NAME}”`).waitFor();
    await sidebar.getByRole('link', { name: NAME, exact: true }).click();
    await page
      .getByRole('tabpanel')
      .getByRole('link', { name: /Which tiles/ })
      .waitFor();
    expect(await runAxe(page)).toEqual([]);
    await takeScreenshots(page, 'project');

    await page.getByRole('button', { name: 'Project actions' }).click();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: 'Export…' }).click()]);
    expect(download.suggestedFilename()).toBe(`${NAME}.zip`);
    const zip = await readFile(await download.path());

    await page.getByRole('button', { name: 'Project actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete project' }).click();
    await page.getByLabel('Delete its chats too').check();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete project' }).click();
    await page.getByRole('heading', { name: 'No projects yet' }).waitFor();
    expect((await client.call('sessions.list', {})).total).toBe(0);
    await page
      .locator('[data-sonner-toast]', { hasText: `“${NAME}” deleted` })
      .getByRole('button', { name: 'Undo' })
      .click();
    await page
      .getByRole('tabpanel')
      .getByRole('link', { name: /Which tiles/ })
      .waitFor();

    await page.goto(`${at.perch.url}/projects`);
    await page.getByLabel('Import…').setInputFiles({ name: 'a.zip', mimeType: 'application/zip', buffer: zip });
    await page.getByText('Nothing was added').waitFor();
  });

  verifies('projects/app', 'a folder is turned into one with its chats', async () => {
    using outside = await connectOutside(at.perch);
    const { client } = outside;
    await client.call('sessions.import', {
      content: JSON.stringify({ id: 'q', role: 'user', content: 'Which boots?', timestamp: 1, parentId: null }),
      title: 'Boots',
    });
    const { sessions } = await client.call('sessions.list', {});
    const path = sessions.find(({ title }) => title === 'Boots')?.path ?? '';
    await client.call('sessions.move', { path, folder: 'Travel/Alps' });
    const page = await at.browser.page(await at.perch.open());
    await waitForConnection(page, LINKED_STATUS);
    at.browser.complaints.length = 0;
    await page.goto(`${at.perch.url}/settings/appearance`);
    await page.getByText('By folder').click();
    await page.getByText('Travel / Alps').click();
    await page.getByRole('button', { name: 'Turn into a project…' }).click();
    await page.getByRole('button', { name: 'Create project' }).click();
    await page.getByRole('heading', { name: 'Alps', level: 1 }).waitFor();
    await page.getByRole('tabpanel').getByRole('link', { name: /Boots/ }).waitFor();
    expect(at.browser.complaints).toEqual([]);
  });
});
