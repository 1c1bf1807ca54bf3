import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { until } from '../support/gateway.ts';
import { annotated, blankSheet, changesOf, choose, download, drag, layers, panel, placeOf, surface } from './annotate-page.ts';
import { touch } from './canvas-input.ts';
import { pixelsOf } from './pictures.ts';
import { shoot } from './shoot.ts';

describe('the Annotate page without a keyboard', () => {
  const all = annotated();

  /** The page on a touch screen, and its fingers. */
  async function held() {
    const page = await blankSheet(all.at);
    const cdp = await page.context().newCDPSession(page);
    await cdp.send('Emulation.setTouchEmulationEnabled', { enabled: true, maxTouchPoints: 5 });
    return { page, cdp };
  }
  verifies('annotate/arrange', 'a crop is applied and given up by buttons', async () => {
    const page = await blankSheet(all.at);
    const bar = page.getByRole('group', { name: 'Crop' });
    await choose(page, 'Crop');
    await drag(page, [0.4, 0.4], [0.6, 0.6]);
    await shoot(page, 'crop');
    await bar.getByRole('button', { name: 'Cancel' }).click();
    await bar.waitFor({ state: 'detached' });
    expect(await page.getByRole('button', { name: 'Undo' }).isDisabled()).toBe(true);
    await choose(page, 'Crop');
    await drag(page, [0.4, 0.4], [0.6, 0.6]);
    await bar.getByRole('button', { name: 'Crop' }).click();
    await bar.waitFor({ state: 'detached' });
    expect(await page.getByRole('radio', { name: 'Select', exact: true }).isChecked()).toBe(true);
    const { size } = await pixelsOf(page, (await download(page, 'PNG')).bytes, []);
    expect(size[0]).toBeLessThan(600);
    await page.close();
  });

  verifies('canvas.studio/text', 'on a touch screen Enter begins a line, and a tap beside the text ends it', async () => {
    const { page, cdp } = await held();
    await choose(page, 'Text');
    await touch(cdp, 'touchStart', await placeOf(page, [0.5, 0.5]));
    await touch(cdp, 'touchEnd');
    const field = page.getByRole('textbox', { name: /^Text\. Press Enter for a new line/ });
    await field.pressSequentially('one');
    await field.press('Enter');
    await field.pressSequentially('two');
    await surface(page).focus();
    await field.waitFor({ state: 'detached' });
    await until(async () => (await changesOf(all.at, page)).some(({ set }) => set.text === 'one\ntwo'), 'both lines');
    await page.close();
  });

  verifies(
    'annotate/menu',
    'a finger held on a shape opens it, and lifted leaves it open; one that rests before it draws does not',
    async () => {
      const { page, cdp } = await held();
      await panel(page, 'Layers');
      await page.getByRole('checkbox', { name: 'Fill' }).check();
      await choose(page, 'Rectangle');
      await drag(page, [0.3, 0.4], [0.5, 0.6]);
      const at = await placeOf(page, [0.4, 0.5]);
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
        await touch(cdp, 'touchStart', at);
        await page.locator('[data-pressed]').waitFor();
      };
      await choose(page, 'Pen');
      await press();
      await rest();
      await touch(cdp, 'touchMove', await placeOf(page, [0.6, 0.7]));
      await touch(cdp, 'touchEnd');
      await panel(page, 'Layers');
      await layers(page).getByRole('button', { name: 'Pen stroke', exact: true }).waitFor();
      expect(await page.getByRole('menu').filter({ visible: true }).count()).toBe(0);
      await choose(page, 'Select');
      await press();
      await rest();
      await touch(cdp, 'touchEnd');
      const menu = page.getByRole('menu', { name: 'Selection' });
      await menu.getByRole('menuitem', { name: 'Delete' }).click();
      await until(async () => (await layers(page).getByRole('listitem').count()) === 1, 'what was held to be gone');
      expect(all.at.browser.complaints).toEqual([]);
      await page.close();
    },
  );
});
