import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import {
  useAnnotateFixture,
  openBlankSheet,
  getChanges,
  chooseTool,
  exportDrawing,
  drag,
  getLayerList,
  isToolChosen,
  openPanel,
  openStyle,
  toPagePoint,
  surface,
} from './annotate-page.ts';
import { createTouch } from './canvas-input.ts';
import { readPixels } from './test-pictures.ts';
import { takeScreenshots } from './take-screenshots.ts';

describe('the Annotate page without a keyboard', () => {
  const all = useAnnotateFixture();

  /** The page on a touch screen, and its fingers. */
  async function held() {
    const page = await openBlankSheet(all.at);
    const cdp = await page.context().newCDPSession(page);
    await cdp.send('Emulation.setTouchEmulationEnabled', { enabled: true, maxTouchPoints: 5 });
    return { page, cdp };
  }
  verifies('annotate/arrange', 'a crop is applied and given up by buttons', async () => {
    const page = await openBlankSheet(all.at);
    const bar = page.getByRole('group', { name: 'Crop' });
    await chooseTool(page, 'Crop');
    await drag(page, [0.4, 0.4], [0.6, 0.6]);
    await takeScreenshots(page, 'crop');
    await bar.getByRole('button', { name: 'Cancel' }).click();
    await bar.waitFor({ state: 'detached' });
    expect(await page.getByRole('button', { name: 'Undo' }).isDisabled()).toBe(true);
    await chooseTool(page, 'Crop');
    await drag(page, [0.4, 0.4], [0.6, 0.6]);
    await bar.getByRole('button', { name: 'Crop' }).click();
    await bar.waitFor({ state: 'detached' });
    expect(await isToolChosen(page, 'Select')).toBe(true);
    const { size } = await readPixels(page, (await exportDrawing(page, 'PNG')).bytes, []);
    expect(size[0]).toBeLessThan(600);
    await page.close();
  });

  verifies('canvas.studio/text', 'on a touch screen Enter begins a line, and a tap beside the text ends it', async () => {
    const { page, cdp } = await held();
    await chooseTool(page, 'Text');
    await createTouch(cdp, 'touchStart', await toPagePoint(page, [0.5, 0.5]));
    await createTouch(cdp, 'touchEnd');
    const field = page.getByRole('textbox', { name: /^Text\. Press Enter for a new line/ });
    await field.pressSequentially('one');
    await field.press('Enter');
    await field.pressSequentially('two');
    await surface(page).focus();
    await field.waitFor({ state: 'detached' });
    await waitFor(async () => (await getChanges(all.at, page)).some(({ set }) => set.text === 'one\ntwo'), 'both lines');
    await page.close();
  });

  verifies(
    'annotate/menu',
    'a finger held on a shape opens it, and lifted leaves it open; one that rests before it draws does not',
    async () => {
      const { page, cdp } = await held();
      await openPanel(page, 'Layers');
      await (await openStyle(page)).getByRole('checkbox', { name: 'Fill' }).check();
      await page.keyboard.press('Escape');
      await chooseTool(page, 'Rectangle');
      await drag(page, [0.3, 0.4], [0.5, 0.6]);
      const at = await toPagePoint(page, [0.4, 0.5]);
      // Chromium on a desktop holds no press by itself; this is what it sends on a phone.
      const rest = (): Promise<boolean> =>
        surface(page).evaluate(
          (element, { x: clientX, y: clientY }) =>
            element.dispatchEvent(
              new PointerEvent('contextmenu', { pointerType: 'touch', button: 0, clientX, clientY, bubbles: true, cancelable: true }),
            ),
          at,
        );
      /** Once the page has heard of it. */
      const press = async (): Promise<void> => {
        await surface(page).evaluate((element) => {
          element.removeAttribute('data-pressed');
          element.addEventListener('pointerdown', () => element.setAttribute('data-pressed', ''), { once: true });
        });
        await createTouch(cdp, 'touchStart', at);
        await page.locator('[data-pressed]').waitFor();
      };
      await chooseTool(page, 'Pen');
      await press();
      await rest();
      await createTouch(cdp, 'touchMove', await toPagePoint(page, [0.6, 0.7]));
      await createTouch(cdp, 'touchEnd');
      await openPanel(page, 'Layers');
      await getLayerList(page).getByRole('button', { name: 'Pen stroke', exact: true }).waitFor();
      expect(await page.getByRole('menu').filter({ visible: true }).count()).toBe(0);
      await chooseTool(page, 'Select');
      await press();
      await rest();
      await createTouch(cdp, 'touchEnd');
      const menu = page.getByRole('menu', { name: 'Selection' });
      await menu.getByRole('menuitem', { name: 'Delete' }).click();
      await waitFor(async () => (await getLayerList(page).getByRole('listitem').count()) === 1, 'what was held to be gone');
      expect(all.at.browser.complaints).toEqual([]);
      await page.close();
    },
  );
});
