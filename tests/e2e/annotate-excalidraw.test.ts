import { readFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import {
  chooseTool,
  drag,
  exportDrawing,
  getChanges,
  getLayerList,
  getShapeKinds,
  layer,
  openBlankSheet,
  openPage,
  openPanel,
  surface,
  titleField,
  toPagePoint,
  useAnnotateFixture,
  waitForTools,
  waitUntilSaved,
} from './annotate-page.ts';
import { takeScreenshots } from './take-screenshots.ts';

const FILE = JSON.stringify({
  type: 'excalidraw',
  version: 2,
  elements: [
    { id: 'a', type: 'rectangle', x: 0, y: 0, width: 200, height: 100, backgroundColor: '#ffec99', strokeStyle: 'dashed' },
    { id: 'b', type: 'text', x: 20, y: 30, width: 60, height: 25, text: 'Start', fontSize: 20, containerId: 'a' },
    {
      id: 'c',
      type: 'arrow',
      x: 200,
      y: 50,
      points: [
        [0, 0],
        [150, 0],
      ],
      endArrowhead: 'arrow',
    },
    { id: 'd', type: 'hologram', x: 0, y: 0 },
  ],
  appState: { viewBackgroundColor: '#fff9db' },
  files: {},
});
const toFile = (name: string, text: string) => ({ name, mimeType: '', buffer: Buffer.from(text) });

describe('Excalidraw files and shape libraries', () => {
  const all = useAnnotateFixture();

  verifies(
    'annotate/excalidraw',
    'opened from the list with a note of what was simplified, added to a drawing, exported again',
    async () => {
      const page = await openPage(all.at, '/annotate');
      const file = page.locator('[data-source=file]');
      await file.setInputFiles(toFile('flow.excalidraw', FILE));
      await waitForTools(page);
      await waitFor(async () => (await titleField(page).inputValue()) === 'flow', 'the title of the file');
      await page.getByText('1 shape has no exact counterpart and was simplified. 1 element was left out.').waitFor();
      expect((await getShapeKinds(all.at, page)).sort()).toEqual(['arrow', 'rect', 'rect', 'text']);

      // Onto a drawing that is open, it adds its shapes.
      await file.setInputFiles(toFile('flow.excalidraw', FILE));
      await waitFor(async () => (await getShapeKinds(all.at, page)).length === 8, 'the shapes of the second file');
      const exported = await exportDrawing(page, 'Excalidraw file');
      expect(exported.name).toBe('flow.excalidraw');
      const { type, elements } = JSON.parse(exported.bytes.toString()) as { type: string; elements: { type: string }[] };
      expect([type, elements.map((element) => element.type).sort()]).toEqual([
        'excalidraw',
        ['arrow', 'arrow', 'rectangle', 'rectangle', 'rectangle', 'rectangle', 'text', 'text'],
      ]);

      // Damaged files are told by name, and nothing of them is made.
      const before = (await all.at.outside.client.call('drawings.list', {})).count;
      await page.goto(`${all.at.perch.url}/annotate`);
      const broken = 'data:image/png;base64,iVBORw0KGgo=';
      for (const [name, text, reason] of [
        ['half.excalidraw', FILE.slice(0, 100), /half\.excalidraw: The file is not valid JSON\./],
        ['odd.excalidraw', FILE.replace('"x":20', '"x":"left"'), /odd\.excalidraw: The file is damaged: element 2 \(text\), x/],
        [
          'picture.excalidraw',
          JSON.stringify({
            type: 'excalidraw',
            elements: [{ id: 'p', type: 'image', x: 0, y: 0, width: 9, height: 9, fileId: 'f' }],
            files: { f: { dataURL: broken } },
          }),
          /picture\.excalidraw: a picture in it can’t be read\. Nothing was imported\./,
        ],
      ] as const) {
        await file.setInputFiles(toFile(name, text));
        await page.getByRole('alert').getByText(reason).waitFor();
      }
      expect((await all.at.outside.client.call('drawings.list', {})).count).toBe(before);
      await page.close();
    },
  );

  verifies('annotate/library', 'a selection is saved by name, inserted by click and drag, exported, deleted and imported', async () => {
    const page = await openBlankSheet(all.at);
    await openPanel(page, 'Library');
    await page.getByRole('list', { name: 'Basic shapes' }).getByRole('button', { name: 'Decision' }).click();
    await waitFor(async () => (await getShapeKinds(all.at, page)).filter((kind) => kind === 'polygon').length === 2, 'the basic shape');
    await page.getByLabel('Name of the selection').fill('My decision');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const own = page.getByRole('list', { name: 'Your shapes' });
    const item = own.getByRole('button', { name: 'My decision', exact: true });
    await item.waitFor();
    await takeScreenshots(page, 'library');

    await item.click();
    await waitFor(async () => (await getShapeKinds(all.at, page)).length === 4, 'the inserted shapes');
    const { x, y } = await toPagePoint(page, [0.3, 0.3]);
    const box = await surface(page).boundingBox();
    await item.dragTo(surface(page), { targetPosition: { x: x - (box?.x ?? 0), y: y - (box?.y ?? 0) } });
    await waitFor(async () => (await getShapeKinds(all.at, page)).length === 6, 'the dragged shapes');
    await waitUntilSaved(page);

    // Another page has the library too: the vault stores it.
    const other = await openBlankSheet(all.at);
    await other.getByRole('list', { name: 'Your shapes' }).getByRole('button', { name: 'My decision', exact: true }).waitFor();
    await other.close();

    const [got] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export library' }).click()]);
    expect(got.suggestedFilename()).toBe('perch.excalidrawlib');
    const library = readFileSync(await got.path());
    await own.getByRole('button', { name: 'Delete My decision' }).click();
    await item.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Undo' }).last().click();
    await item.waitFor();
    await own.getByRole('button', { name: 'Delete My decision' }).click();
    await item.waitFor({ state: 'detached' });
    await page
      .locator('[data-source=library]')
      .setInputFiles({ name: 'mine.excalidrawlib', mimeType: 'application/json', buffer: library });
    await item.waitFor();
    await page.getByText('1 item added.').waitFor();
    await page.locator('[data-source=library]').setInputFiles(toFile('bad.excalidrawlib', '{"type":"excalidrawlib"}'));
    await page
      .getByRole('alert')
      .getByText(/bad\.excalidrawlib/)
      .waitFor();
    expect(all.at.browser.complaints).toEqual([]);
    await page.close();
  });

  verifies('annotate/tools', 'a group opens by a second press, by Down and by a right click, and shows its last used tool', async () => {
    const page = await openBlankSheet(all.at);
    const toolbar = page.getByRole('toolbar', { name: 'Drawing tools' });
    const group = toolbar.locator('[data-tools~=ellipse]');
    await group.click();
    await group.click();
    await page.getByRole('menuitem', { name: 'Star' }).click();
    await toolbar.getByRole('button', { name: 'Star', pressed: true }).waitFor();
    await group.press('ArrowDown');
    await page.keyboard.press('Escape');
    await group.click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Ellipse' }).click();
    await chooseTool(page, 'Select');
    expect(await group.getAttribute('aria-label')).toBe('Ellipse');
    // Keys of tools change what a group shows; arrow keys go from one to the next.
    await page.keyboard.press('i');
    await toolbar.getByRole('button', { name: 'Highlighter', pressed: true }).waitFor();
    await toolbar.getByRole('button', { name: 'Highlighter' }).focus();
    await page.keyboard.press('ArrowRight');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Ellipse');
    await page.reload();
    await waitFor(async () => (await group.getAttribute('aria-label')) === 'Ellipse', 'the last used tool');
    await page.close();
  });

  verifies('annotate/tools', 'what is drawn at a small zoom looks as it does at full size', async () => {
    const page = await openBlankSheet(all.at);
    await openPanel(page, 'Layers');
    const zoom = Number(/(\d+)%/.exec(await page.getByRole('button', { name: /^Zoom \d+%/ }).innerText())?.[1]) / 100;
    expect(zoom).toBeLessThan(0.8);
    await chooseTool(page, 'Rectangle');
    await drag(page, [0.3, 0.3], [0.5, 0.5]);
    await layer(page, 'Rectangle').waitFor();
    await chooseTool(page, 'Numbered marker');
    const { x, y } = await toPagePoint(page, [0.6, 0.6]);
    await page.mouse.click(x, y);
    await page.getByRole('textbox', { name: 'Note for marker 1' }).waitFor();
    await waitFor(async () => (await getShapeKinds(all.at, page)).length === 2, 'both shapes');
    const shapes = (await getChanges(all.at, page)).map(({ set }) => set);
    expect((shapes.find(({ kind }) => kind === 'rect')?.strokeWidth ?? 0) * zoom).toBeCloseTo(3, 0);
    expect((shapes.find(({ kind }) => kind === 'marker')?.size ?? 0) * zoom).toBeGreaterThanOrEqual(23.5);
    await page.close();
  });

  verifies('annotate/notes', 'placing a marker opens its note beside it; letters stay letters, and Escape or Done close it', async () => {
    const page = await openBlankSheet(all.at);
    await openPanel(page, 'Layers');
    const note = page.getByRole('group', { name: /^Note \d of \d$/ });
    await chooseTool(page, 'Numbered marker');
    for (const [index, place] of [[1, [0.3, 0.3]] as const, [2, [0.7, 0.97]] as const]) {
      const { x, y } = await toPagePoint(page, place);
      await page.mouse.click(x, y);
      await note.getByText(`Note ${index} of ${index}`).waitFor();
      const box = await note.boundingBox();
      expect(box && box.x >= 0 && box.y >= 0 && box.x + box.width <= 1280 && box.y + box.height <= 800).toBe(true);
      await page.keyboard.type('veto rate');
      await page.keyboard.press('Backspace');
      await note.getByRole('button', { name: 'Done' }).focus();
      for (const key of ['r', 'Delete', 'Backspace']) await page.keyboard.press(key);
      if (index === 1) await page.keyboard.press('Escape');
      else await note.getByRole('button', { name: 'Done' }).click();
      await note.waitFor({ state: 'detached' });
    }
    expect(await getLayerList(page).getByRole('listitem').count()).toBe(2);
    await waitFor(async () => {
      const texts = (await getChanges(all.at, page)).flatMap(({ set }) => (set.note === 'veto rat' ? [set.note] : []));
      return texts.length === 2;
    }, 'both notes');
    await chooseTool(page, 'Select');
    const { x, y } = await toPagePoint(page, [0.3, 0.3]);
    await page.mouse.click(x, y);
    await note.getByText('Note 1 of 2').waitFor();
    await takeScreenshots(page, 'note');
    // With the tool for markers, a press on one opens its note too.
    await page.keyboard.press('Escape');
    await page.keyboard.press('n');
    await page.mouse.click(x, y);
    await note.getByText('Note 1 of 2').waitFor();
    await page.close();
  });
});
