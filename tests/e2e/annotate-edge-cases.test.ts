import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import {
  useAnnotateFixture,
  beginDrag,
  openBlankSheet,
  chooseTool,
  drag,
  getDrawingId,
  layer,
  getLayerList,
  openPage,
  openPanel,
  pressAt,
  waitUntilSaved,
  surface,
} from './annotate-page.ts';

describe('failures on the Annotate page', () => {
  const all = useAnnotateFixture();

  verifies('annotate/kept', 'a drawing that is deleted while being edited reports it once, and accepts no more changes', async () => {
    const page = await openBlankSheet(all.at);
    await chooseTool(page, 'Pen');
    await drag(page, [0.2, 0.2], [0.4, 0.4]);
    await waitUntilSaved(page);
    await beginDrag(page, [0.3, 0.3], [0.6, 0.5]);
    await all.at.outside.client.call('drawings.delete', { drawingId: getDrawingId(page) });
    await page.getByRole('heading', { name: 'Drawing not found' }).waitFor();
    await page.mouse.up();
    await page.keyboard.press('Control+z');
    await page.keyboard.press('Control+Shift+z');
    // The call has been answered once the list, which is requested after it, has loaded.
    await page.getByRole('link', { name: 'All drawings' }).last().click();
    await page.getByRole('heading', { name: 'Drawings', exact: true }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Drawing not found' }).waitFor();
    expect(await page.getByRole('alert').allInnerTexts()).toEqual([]);
    await page.close();
  });

  verifies('annotate/sources', 'pasting something else than a picture or drawing is reported, by keys and by the menu', async () => {
    const page = await openPage(all.at, '/annotate');
    const none = page.getByRole('alert').filter({ hasText: 'The clipboard has no picture or drawing.' });
    await page.evaluate(() => navigator.clipboard.writeText('only words'));
    await page.getByRole('button', { name: 'Blank canvas' }).focus();
    await page.keyboard.press('Control+v');
    await none.waitFor();
    await page.getByRole('button', { name: 'Blank canvas' }).click();
    await surface(page).focus();
    await page.keyboard.press('Control+v');
    await none.getByRole('button', { name: 'Close' }).click();
    await pressAt(page, [0.5, 0.5], { button: 'right' });
    await page.getByRole('menuitem', { name: 'Paste' }).click();
    await none.waitFor();
    await openPanel(page, 'Notes');
    await chooseTool(page, 'Numbered marker');
    await pressAt(page, [0.5, 0.5]);
    await page.getByRole('group', { name: 'Note 1 of 1' }).waitFor();
    await page.keyboard.press('Escape');
    await none.getByRole('button', { name: 'Close' }).click();
    await page.getByLabel('Note for marker 1').focus();
    await page.keyboard.press('Control+v');
    await waitFor(async () => (await page.getByLabel('Note for marker 1').inputValue()) === 'only words', 'the note');
    expect(await none.count()).toBe(0);
    await page.close();
  });

  verifies('annotate/layers', 'a layer that is moved, and how much is seen at first, is said as it is', async () => {
    const page = await openBlankSheet(all.at);
    const statusLine = surface(page).locator('xpath=../*[@role="status"]');
    await openPanel(page, 'Layers');
    for (const tool of ['Rectangle', 'Ellipse']) {
      await chooseTool(page, tool);
      await drag(page, [0.3, 0.3], [0.5, 0.5]);
      await layer(page, tool).waitFor();
    }
    await getLayerList(page).getByRole('button', { name: 'Move Rectangle up' }).click();
    await waitFor(async () => (await statusLine.innerText()) === 'Rectangle brought forward', 'it to be said');
    await layer(page, 'Rectangle').press('Alt+ArrowDown');
    await waitFor(async () => (await statusLine.innerText()) === 'Rectangle sent backward', 'it to be said');
    await page.reload();
    await layer(page, 'Ellipse').waitFor();
    expect(await statusLine.innerText()).toBe('');
    await page.close();
  });
});
