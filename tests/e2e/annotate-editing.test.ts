import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import {
  useAnnotateFixture,
  beginDrag,
  openBlankSheet,
  getChanges,
  chooseTool,
  exportDrawing,
  drag,
  getShapeKinds,
  layer,
  getLayerList,
  openPage,
  openPanel,
  openStyle,
  pressAt,
  waitUntilSaved,
  surface,
} from './annotate-page.ts';
import { readPixels } from './test-pictures.ts';
import { takeScreenshots } from './take-screenshots.ts';

describe('editing on the Annotate page', () => {
  const all = useAnnotateFixture();

  /** A red rectangle, and a blue one that covers half of it, both filled. */
  async function two() {
    const page = await openBlankSheet(all.at);
    await (await openStyle(page)).getByRole('checkbox', { name: 'Fill' }).check();
    await page.keyboard.press('Escape');
    await chooseTool(page, 'Rectangle');
    await drag(page, [0.3, 0.4], [0.5, 0.6]);
    await page.getByRole('button', { name: 'Blue', exact: true }).click();
    await chooseTool(page, 'Ellipse');
    await drag(page, [0.4, 0.4], [0.6, 0.6]);
    await openPanel(page, 'Layers');
    await layer(page, 'Ellipse').waitFor();
    return page;
  }
  const middle = async (page: Awaited<ReturnType<typeof two>>): Promise<string> => {
    const { bytes } = await exportDrawing(page, 'PNG');
    const { size } = await readPixels(page, bytes, []);
    const { colors } = await readPixels(page, bytes, [[Math.round((size[0] ?? 0) * 0.47), Math.round((size[1] ?? 0) * 0.5)]]);
    return colors[0] ?? '';
  };

  verifies(
    'annotate/layers',
    'the panel reorders, hides and locks shapes; visible in the export, the other tab and after a reload',
    async () => {
      const page = await two();
      expect(await middle(page)).toBe('#1d6fd8');
      await page.getByRole('button', { name: 'Move Ellipse down' }).click();
      expect(
        await getLayerList(page)
          .getByRole('button', { name: /^(Rectangle|Ellipse)$/ })
          .allInnerTexts(),
      ).toEqual(['Rectangle', 'Ellipse']);
      expect(await middle(page)).toBe('#d92d20');
      await page.getByRole('button', { name: 'Hide Rectangle' }).click();
      expect(await middle(page)).toBe('#1d6fd8');
      const svg = (await exportDrawing(page, 'SVG')).bytes.toString().toLowerCase();
      expect([svg.includes('#d92d20'), svg.includes('#1d6fd8')]).toEqual([false, true]);

      await chooseTool(page, 'Select');
      await page.getByRole('button', { name: 'Lock Ellipse' }).click();
      for (const place of [
        [0.35, 0.5],
        [0.5, 0.5],
      ] as const) {
        await pressAt(page, place);
        expect(await getLayerList(page).locator('[data-act=select][aria-pressed=true]').count()).toBe(0);
      }
      await surface(page).focus();
      await page.keyboard.press('Control+a');
      await page.keyboard.press('Delete');
      expect(await getLayerList(page).getByRole('listitem').count()).toBe(2);
      await waitUntilSaved(page);
      const other = await openPage(all.at, new URL(page.url()).pathname);
      await other.getByRole('button', { name: 'Hide Rectangle', pressed: true }).click();
      await page.getByRole('button', { name: 'Hide Rectangle', pressed: false }).waitFor();
      await page.getByRole('button', { name: 'Lock Ellipse', pressed: true }).click();
      await pressAt(page, [0.55, 0.5]);
      await getLayerList(page).locator('[data-act=select][aria-pressed=true]').getByText('Ellipse').waitFor();
      await takeScreenshots(page, 'layers');
      await other.close();
      await page.close();
    },
  );

  verifies('annotate/layers', 'the note on a marker is come to by a double click on it, and by Enter; Escape leads back', async () => {
    const page = await openBlankSheet(all.at);
    await chooseTool(page, 'Numbered marker');
    await pressAt(page, [0.5, 0.5]);
    await chooseTool(page, 'Select');
    await pressAt(page, [0.5, 0.5], { clickCount: 2 });
    const note = page.getByRole('textbox', { name: 'Note for marker 1' });
    await waitFor(() => note.evaluate((field) => field === document.activeElement), 'the note to have the keyboard');
    await page.keyboard.type('Look here');
    await page.keyboard.press('Escape');
    await waitFor(() => surface(page).evaluate((drawing) => drawing === document.activeElement), 'the drawing to have it back');
    await page.keyboard.press('Enter');
    await waitFor(() => note.evaluate((field) => field === document.activeElement), 'the note to have it again');
    expect(await note.inputValue()).toBe('Look here');
    await page.close();
  });

  verifies('annotate/style', 'by the swatches and the slider, each undone at once', async () => {
    const page = await two();
    await surface(page).focus();
    await page.keyboard.press('Control+a');
    await page.getByRole('button', { name: 'Green', exact: true }).click();
    expect(await middle(page)).toBe('#1f9d55');
    const slider = (await openStyle(page)).getByRole('slider', { name: 'Opacity' });
    for (const value of ['0.8', '0.6', '0.5']) await slider.fill(value);
    await page.keyboard.press('Escape');
    // Half over half over white.
    expect(await middle(page)).toMatch(/^#5[67]b[56](7f|80)$/);
    await page.getByRole('button', { name: 'Undo' }).click();
    expect(await middle(page)).toBe('#1f9d55');
    await page.getByRole('button', { name: 'Undo' }).click();
    expect(await middle(page)).toBe('#1d6fd8');
    await page.close();
  });

  verifies('annotate/menu', 'for the shape below, for the sheet, and by keys for the selection', async () => {
    const page = await two();
    await chooseTool(page, 'Select');
    await pressAt(page, [0.35, 0.5], { button: 'right' });
    const menu = page.getByRole('menu', { name: 'Selection' });
    await menu.waitFor();
    await takeScreenshots(page, 'menu');
    await menu.getByRole('menuitem', { name: 'Bring to front' }).click();
    expect(await middle(page)).toBe('#d92d20');
    await pressAt(page, [0.35, 0.5], { button: 'right' });
    await menu.getByRole('menuitem', { name: 'Copy' }).click();
    await pressAt(page, [0.65, 0.5], { button: 'right' });
    const sheet = page.getByRole('menu', { name: 'Drawing' });
    await sheet.waitFor();
    expect(await sheet.getByRole('menuitem').allInnerTexts()).toEqual(['Paste', 'Select all', 'Zoom to fit']);
    await sheet.getByRole('menuitem', { name: 'Paste' }).click();
    await waitFor(async () => (await getLayerList(page).getByRole('listitem').count()) === 3, 'what was pasted');
    // Its middle is where the menu was asked for.
    await pressAt(page, [0.2, 0.2]);
    await pressAt(page, [0.72, 0.5], { button: 'right' });
    await menu.getByRole('menuitem', { name: 'Delete' }).click();
    await waitFor(async () => (await getLayerList(page).getByRole('listitem').count()) === 2, 'it to be gone');
    await surface(page).focus();
    await page.keyboard.press('Control+a');
    await page.keyboard.press('ContextMenu');
    await menu.getByRole('menuitem', { name: 'Duplicate' }).press('Enter');
    await waitFor(async () => (await getLayerList(page).getByRole('listitem').count()) === 4, 'the doubles');
    expect(all.at.browser.complaints).toEqual([]);
    await page.close();
  });

  verifies(
    'annotate/tabs',
    'copied by keys here and pasted there; a stroke under way is seen, and ends with the tab that drew it',
    async () => {
      const page = await two();
      await surface(page).focus();
      await page.keyboard.press('Control+a');
      await page.keyboard.press('Control+c');
      const other = await openBlankSheet(all.at);
      await surface(other).focus();
      await other.keyboard.press('Control+v');
      await waitFor(async () => (await getShapeKinds(all.at, other)).length === 2, 'what was copied');
      expect((await getShapeKinds(all.at, other)).sort()).toEqual(['ellipse', 'rect']);
      const where = async (of: typeof page): Promise<number[]> =>
        (await getChanges(all.at, of)).flatMap(({ set }) => (typeof set.x === 'number' && set.kind === 'rect' ? [set.x] : []));
      expect((await where(other))[0]).toBeCloseTo(((await where(page))[0] ?? NaN) + 16, 5);

      const third = await openPage(all.at, new URL(other.url()).pathname);
      await surface(third).waitFor();
      const dark = (): Promise<number> =>
        third.evaluate(() => {
          const canvas = document.querySelector<HTMLCanvasElement>('.perch-over');
          const context = canvas?.getContext('2d');
          if (!canvas || !context) return 0;
          const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
          return data.reduce((count, value, at) => count + (at % 4 === 3 && value > 0 ? 1 : 0), 0);
        });
      expect(await dark()).toBe(0);
      await chooseTool(other, 'Pen');
      await beginDrag(other, [0.1, 0.1], [0.3, 0.2]);
      await waitFor(async () => (await dark()) > 0, 'the stroke under way');
      expect((await getShapeKinds(all.at, other)).length).toBe(2);
      await other.close();
      await waitFor(async () => (await dark()) === 0, 'the stroke to go with its tab');
      await third.close();
      await page.close();
    },
  );
});
