import { expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { last, run, said, shapes, studio, THREE } from './studio-page.ts';

verifies('canvas.studio/touch', 'the middle button pans, whatever tool is in hand, and draws nothing', async () => {
  const page = await studio(THREE);
  await page.keyboard.press('p');
  await page.mouse.move(300, 200);
  await page.mouse.down({ button: 'middle' });
  expect(await run(page, 'return shown.surface.style.cursor')).toBe('grabbing');
  await page.mouse.move(340, 170, { steps: 4 });
  await page.mouse.up({ button: 'middle' });
  expect(await run(page, 'return shown.view.on({ x: 0, y: 0 })')).toEqual({ x: 40, y: -30 });
  expect(await run(page, 'return shown.surface.style.cursor')).toBe('crosshair');
  await page.mouse.move(400, 300);
  expect(await run(page, 'return shown.view.on({ x: 0, y: 0 })')).toEqual({ x: 40, y: -30 });
  expect(await shapes(page)).toHaveLength(3);
});

verifies('canvas.studio/text', 'a double click writes in the text that is there, and where nothing is begins one', async () => {
  const page = await studio(THREE);
  await page.mouse.dblclick(300, 60);
  await page.getByRole('textbox').fill('Here');
  await page.keyboard.press('Enter');
  expect(await last(page)).toMatchObject({ kind: 'text', text: 'Here', x: 300, y: 50 });
  await page.mouse.dblclick(310, 60);
  await page.getByRole('textbox').fill('There');
  await page.keyboard.press('Enter');
  expect((await shapes(page)).map(({ text }) => text)).toEqual([undefined, undefined, undefined, 'There']);
  // What cannot be written in is chosen, and no text lands on it.
  await page.mouse.dblclick(203, 195);
  expect(await page.getByRole('textbox').count()).toBe(0);
  expect(await run(page, 'return [...shown.selection]')).toEqual(['b']);
});

verifies('canvas.studio/keyboard', 'Mod, Shift and an arrow align; Tab goes on among shapes once one is pressed after Escape', async () => {
  const page = await studio(THREE);
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Control+Shift+ArrowLeft');
  expect(await said(page)).toBe('Aligned: left');
  expect((await shapes(page)).map(({ x, cx }) => x ?? Number(cx) - 40)).toEqual([100, 100, 100]);
  await page.keyboard.press('Control+Shift+ArrowDown');
  expect((await shapes(page)).map(({ y, cy }) => (y === undefined ? Number(cy) + 20 : Number(y) + 30))).toEqual([320, 320, 320]);
  for (const key of ['Control+z', 'Control+z', 'Escape']) await page.keyboard.press(key);
  await page.mouse.click(100, 115);
  await page.keyboard.press('Tab');
  expect(await run(page, 'return [...shown.selection]')).toEqual(['b']);
});

verifies(
  'canvas.studio/select',
  'several are faded as one step; what is hidden or locked is chosen by nothing, and no longer',
  async () => {
    const page = await studio(THREE);
    await page.keyboard.press('Control+a');
    await run(page, 'for (const opacity of [0.9, 0.6, 0.3]) shown.fade(opacity)');
    expect((await shapes(page)).map(({ opacity }) => opacity)).toEqual([0.3, 0.3, 0.3]);
    await page.keyboard.press('Control+z');
    expect((await shapes(page)).map(({ opacity }) => opacity)).toEqual([1, 1, 1]);
    await run(page, 'shown.hide(["a"], true); shown.lock(["b"], true)');
    expect(await run(page, 'return [...shown.selection]')).toEqual(['c']);
    for (const [x, y] of [
      [100, 115],
      [203, 195],
    ] as const) {
      await page.mouse.click(x, y);
      expect(await run(page, 'return [...shown.selection]')).toEqual([]);
    }
    await page.keyboard.press('Control+a');
    expect(await run(page, 'return [...shown.selection]')).toEqual(['c']);
    await page.keyboard.press('Delete');
    expect((await shapes(page)).map(({ id }) => id)).toEqual(['a', 'b']);
  },
);
