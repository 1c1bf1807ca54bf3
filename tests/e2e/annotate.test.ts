import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { startUpstream, type Upstream } from '../test-upstream.ts';
import { findLowContrast, listControls, findOverflow, waitForNoProblems, tabThroughPage } from './accessibility.ts';
import {
  useAnnotateFixture,
  openBlankSheet,
  chooseTool,
  drag,
  getShapeKinds,
  isToolChosen,
  layer,
  openPage,
  openPanel,
  waitUntilSaved,
  titleField,
} from './annotate-page.ts';
import { addProvider } from './outside-client.ts';
import { readPixels } from './test-pictures.ts';
import { takeScreenshots } from './take-screenshots.ts';

describe('the Annotate page', () => {
  const all = useAnnotateFixture();
  let upstream: Upstream;
  beforeAll(async () => {
    upstream = await startUpstream({ models: ['normal-vision'] });
    const { client } = all.at.outside;
    await addProvider(client, upstream.url);
    await client.call('config.set', { key: 'chat.model', value: 'local/normal-vision' });
  });
  afterAll(() => upstream?.close());

  verifies('annotate/kept', 'drawn, saved, there after a reload, and seen by another page as it is drawn', async () => {
    const page = await openBlankSheet(all.at);
    await chooseTool(page, 'Pen');
    await drag(page, [0.3, 0.3], [0.6, 0.5]);
    await openPanel(page, 'Layers');
    await layer(page, 'Pen stroke').waitFor();
    await waitUntilSaved(page);
    await waitFor(async () => (await getShapeKinds(all.at, page)).includes('pen'), 'the gateway to have the stroke');
    await page.reload();
    await layer(page, 'Pen stroke').waitFor();

    const other = await openPage(all.at, new URL(page.url()).pathname);
    await layer(other, 'Pen stroke').waitFor();
    await chooseTool(other, 'Rectangle');
    await drag(other, [0.4, 0.4], [0.5, 0.6]);
    await layer(page, 'Rectangle').waitFor();
    await titleField(page).fill('The login page');
    await page.keyboard.press('Enter');
    await waitFor(async () => (await titleField(other).inputValue()) === 'The login page', 'the title to come');
    // A step back is of one’s own alone.
    await other.getByRole('button', { name: 'Undo' }).click();
    await layer(page, 'Rectangle').waitFor({ state: 'detached' });
    await layer(other, 'Pen stroke').waitFor();
    await takeScreenshots(page, 'studio');
    await other.close();
    await page.goto(`${all.at.perch.url}/annotate`);
    await page.getByRole('link', { name: 'The login page' }).locator('img').waitFor();
    await takeScreenshots(page, 'list');
    await page.close();
  });

  verifies('annotate/to-chat', 'as one card that survives a reload, is sent with its notes, and opens again on the canvas', async () => {
    const page = await openBlankSheet(all.at);
    await chooseTool(page, 'Numbered marker');
    await drag(page, [0.4, 0.4], [0.4, 0.4]);
    await openPanel(page, 'Notes');
    await page.getByLabel('Note for marker 1').fill('The button is cut off');
    await waitUntilSaved(page);
    await takeScreenshots(page, 'notes');
    const drawing = new URL(page.url()).pathname;
    for (const sessionId of ['twin-1', 'twin-2'])
      await all.at.outside.client.call('chat.send', { sessionId, message: 'Twin', model: 'guide/guide' });
    await page.getByRole('button', { name: 'Send to chat' }).click();
    await waitFor(async () => (await page.getByRole('menuitem', { name: 'Twin' }).count()) === 2, 'both chats of one title');
    await page.getByRole('menuitem', { name: 'New chat' }).click();
    await page.getByText('Drawing with notes').waitFor();
    await page.reload();
    await page.getByText('Drawing with notes').waitFor();
    await takeScreenshots(page, 'card');
    expect(await page.getByRole('link', { name: 'Edit drawing' }).getAttribute('href')).toBe(drawing);
    // Sent again it takes the place of the first; removed it is gone.
    await page.getByRole('link', { name: 'Edit drawing' }).click();
    await page.getByRole('button', { name: 'Send to chat' }).click();
    await page.getByRole('menuitem', { name: 'New chat' }).click();
    await page.getByText('Drawing with notes').waitFor();
    expect(await page.getByRole('button', { name: 'Remove Drawing.png' }).count()).toBe(1);

    await page.getByRole('textbox', { name: 'Message' }).fill('What is wrong here?');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    const { body } = await upstream.request(1);
    const messages = body?.['messages'] as { role: string; content: unknown }[];
    const sent = JSON.stringify(messages.findLast(({ role }) => role === 'user')?.content);
    expect(sent).toContain('What is wrong here?');
    expect(sent).toContain('1. The button is cut off');
    const png = /data:image\/png;base64,([A-Za-z0-9+/=]+)/.exec(sent)?.[1] ?? '';
    expect((await readPixels(page, Buffer.from(png, 'base64'), [])).size).toEqual([1600, 1000]);

    // In the chat the picture is seen, and opens large.
    await page.reload();
    const enlargeButton = page.getByRole('button', { name: 'Enlarge Drawing.png' });
    await waitFor(() => enlargeButton.locator('img').evaluate((image) => (image as HTMLImageElement).naturalWidth === 1600), 'the picture');
    await takeScreenshots(page, 'sent');
    await enlargeButton.click();
    const large = page.getByRole('dialog', { name: 'Drawing.png' });
    await large.locator('img').waitFor();
    await takeScreenshots(page, 'large');
    const [savedFile] = await Promise.all([
      page.waitForEvent('download'),
      large.getByRole('button', { name: 'Download Drawing.png' }).click(),
    ]);
    expect(readFileSync(await savedFile.path())).toEqual(Buffer.from(png, 'base64'));
    await page.keyboard.press('Escape');
    await large.waitFor({ state: 'detached' });

    // A file that is not a drawing, as another program may send it, is shown by its name.
    const client = await all.at.perch.client();
    const sessionId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    const broken = { filename: 'broken.png', mimeType: 'image/png', content: btoa('no pixels') };
    await client.call('chat.send', { sessionId, message: 'And this?', attachments: [broken] });
    client.close();
    await page.getByRole('button', { name: 'broken.png', exact: true }).waitFor();

    await page.getByRole('button', { name: 'Annotate Drawing.png' }).first().click();
    await waitFor(async () => (await titleField(page).inputValue()) === 'Drawing', 'the picture on the canvas');
    expect(new URL(page.url()).pathname).not.toBe(drawing);
    expect(await getShapeKinds(all.at, page)).toEqual(['image']);
    await page.close();
  });

  verifies('annotate/accessible', 'names, the way by Tab, contrast, 320 px, and twice the size', async () => {
    const page = await openBlankSheet(all.at);
    await page.keyboard.press('n');
    await waitFor(() => isToolChosen(page, 'Numbered marker'), 'the tool of the key');
    const wrong = (await listControls(page)).filter((each) => each.endsWith('""'));
    const { unfocused, withoutFocusRing } = await tabThroughPage(page);
    wrong.push(...unfocused, ...withoutFocusRing);
    for (const path of ['', '/annotate']) {
      if (path !== '') await page.goto(all.at.perch.url + path);
      await page.getByRole('heading', { level: 1 }).first().waitFor({ state: 'attached' });
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        wrong.push(...(await waitForNoProblems(() => findLowContrast(page), `${path} ${colorScheme}`)));
      }
      for (const width of [320, 640]) {
        await page.setViewportSize({ width, height: 480 });
        wrong.push(...(await waitForNoProblems(() => findOverflow(page), `${path} ${width} px`)));
      }
      await page.setViewportSize({ width: 1280, height: 800 });
    }
    expect(wrong).toEqual([]);
    expect(all.at.browser.complaints).toEqual([]);
    await page.close();
  });
});
