import { expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { dragThrough } from './canvas-input.ts';
import { getLastShape, runInPage, getAnnouncement, useStudioSite, getShapes, openStudioPage, ADD_THREE_SHAPES } from './studio-page.ts';

useStudioSite();

verifies('canvas.studio/touch', 'the middle button pans, whatever tool is in hand, and draws nothing', async () => {
  const page = await openStudioPage(ADD_THREE_SHAPES);
  await page.keyboard.press('p');
  await page.mouse.move(300, 200);
  await page.mouse.down({ button: 'middle' });
  expect(await runInPage(page, 'return shown.surface.style.cursor')).toBe('grabbing');
  await page.mouse.move(340, 170, { steps: 4 });
  await page.mouse.up({ button: 'middle' });
  expect(await runInPage(page, 'return shown.view.toElementPoint({ x: 0, y: 0 })')).toEqual({ x: 40, y: -30 });
  expect(await runInPage(page, 'return shown.surface.style.cursor')).toBe('crosshair');
  await page.mouse.move(400, 300);
  expect(await runInPage(page, 'return shown.view.toElementPoint({ x: 0, y: 0 })')).toEqual({ x: 40, y: -30 });
  expect(await getShapes(page)).toHaveLength(3);
});

verifies('canvas.studio/text', 'a double click writes in the text that is there, and where nothing is begins one', async () => {
  const page = await openStudioPage(ADD_THREE_SHAPES);
  await page.mouse.dblclick(300, 60);
  await page.getByRole('textbox').fill('Here');
  await page.keyboard.press('Enter');
  expect(await getLastShape(page)).toMatchObject({ kind: 'text', text: 'Here', x: 300, y: 50 });
  await page.mouse.dblclick(310, 60);
  await page.getByRole('textbox').fill('There');
  await page.keyboard.press('Enter');
  expect((await getShapes(page)).map(({ text }) => text)).toEqual([undefined, undefined, undefined, 'There']);
  // A shape without text is selected by a double click, and no text is created on it.
  await page.mouse.dblclick(203, 195);
  expect(await page.getByRole('textbox').count()).toBe(0);
  expect(await runInPage(page, 'return [...shown.selection]')).toEqual(['b']);
});

verifies('canvas.studio/keyboard', 'Mod, Shift and an arrow align; Tab goes on among shapes once one is pressed after Escape', async () => {
  const page = await openStudioPage(ADD_THREE_SHAPES);
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Control+Shift+ArrowLeft');
  expect(await getAnnouncement(page)).toBe('Aligned: left');
  expect((await getShapes(page)).map(({ x, cx }) => x ?? Number(cx) - 40)).toEqual([100, 100, 100]);
  await page.keyboard.press('Control+Shift+ArrowDown');
  expect((await getShapes(page)).map(({ y, cy }) => (y === undefined ? Number(cy) + 20 : Number(y) + 30))).toEqual([320, 320, 320]);
  for (const key of ['Control+z', 'Control+z', 'Escape']) await page.keyboard.press(key);
  await page.mouse.click(100, 115);
  await page.keyboard.press('Tab');
  expect(await runInPage(page, 'return [...shown.selection]')).toEqual(['b']);
});

verifies('canvas.studio/keyboard', 'the shape selected by the arrow keys stays in view at any zoom', async () => {
  const page = await openStudioPage();
  await page.keyboard.press('p');
  await runInPage(page, 'shown.zoomTo(8)');
  for (const arrowKey of ['ArrowRight', 'ArrowDown']) for (let step = 0; step < 30; step++) await page.keyboard.press(arrowKey);
  const at = await page.locator('.perch-cross').boundingBox();
  expect(at && at.x > 0 && at.y > 0 && at.x + at.width < 700 && at.y + at.height < 500).toBe(true);
  for (const key of ['Enter', 'Enter']) await page.keyboard.press(key);
  expect(await getLastShape(page)).toMatchObject({ kind: 'pen', trace: [[600, 400, 0.5]] });
});

verifies('canvas.studio/keyboard', 'another colour, width, filling and size of what is chosen is said', async () => {
  const page = await openStudioPage(`${ADD_THREE_SHAPES} put('text', 't', { x: 10, y: 10, text: 'Here' });`);
  await page.keyboard.press('Control+a');
  await runInPage(
    page,
    'shown.color = "blue"; await null; shown.strokeWidth = 8; await null; shown.fill = true; await null; shown.fontSize = 40; await null',
  );
  expect(await runInPage(page, 'return said')).toEqual([
    'Selected 4 shapes',
    'Colour of 4 shapes changed',
    'Line width of 3 shapes changed',
    'Fill of 1 shape changed',
    'Text size of 1 shape changed',
  ]);
  await runInPage(page, 'shown.select([]); shown.color = "red"; await null');
  expect(await getAnnouncement(page)).toBe('Text size of 1 shape changed');
});

verifies('canvas.studio/arrange', 'a crop is drawn on the whole sheet, and then moved', async () => {
  const page = await openStudioPage();
  const frame = (): Promise<unknown> => runInPage(page, 'const { x, y, width, height } = shown.cropFrame; return [x, y, width, height]');
  await page.keyboard.press('c');
  await dragThrough(page, [100, 100], [300, 250]);
  expect(await frame()).toEqual([100, 100, 200, 150]);
  await dragThrough(page, [200, 200], [220, 190]);
  expect(await frame()).toEqual([120, 90, 200, 150]);
});

verifies('canvas.studio/arrange', 'a crop that is taken back, or done again, shows all of the sheet', async () => {
  const page = await openStudioPage();
  const zoom = (): Promise<unknown> => runInPage(page, 'return shown.zoom');
  await page.keyboard.press('c');
  await dragThrough(page, [0, 0], [300, 200]);
  await page.setViewportSize({ width: 400, height: 300 });
  // Layout has run, and resize observers have been notified.
  await runInPage(page, 'await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  await page.keyboard.press('Enter');
  const cropped = await zoom();
  await runInPage(page, 'shown.undo()');
  const whole = await zoom();
  await runInPage(page, 'shown.fit()');
  expect([await zoom(), whole === cropped]).toEqual([whole, false]);
  await runInPage(page, 'shown.redo()');
  expect(await zoom()).toBe(cropped);
});

verifies(
  'canvas.studio/arrange',
  'a picture that is larger than the sheet is shown smaller, in its proportions; a small one as it is',
  async () => {
    const page = await openStudioPage();
    await runInPage(
      page,
      'const src = await halves(40, 20); shown.addImage(src, 4000, 2000); shown.addImage(src, 40, 20, { x: 100, y: 100 })',
    );
    expect(await getShapes(page)).toMatchObject([
      { x: 0, y: 50, width: 600, height: 300 },
      { x: 80, y: 90, width: 40, height: 20 },
    ]);
  },
);

verifies(
  'canvas.studio/select',
  'several are faded as one step; what is hidden or locked is chosen by nothing, and no longer',
  async () => {
    const page = await openStudioPage(ADD_THREE_SHAPES);
    await page.keyboard.press('Control+a');
    await runInPage(page, 'for (const opacity of [0.9, 0.6, 0.3]) shown.setOpacity(opacity)');
    expect((await getShapes(page)).map(({ opacity }) => opacity)).toEqual([0.3, 0.3, 0.3]);
    await page.keyboard.press('Control+z');
    expect((await getShapes(page)).map(({ opacity }) => opacity)).toEqual([1, 1, 1]);
    await runInPage(page, 'shown.hide(["a"], true); shown.lock(["b"], true)');
    expect(await runInPage(page, 'return [...shown.selection]')).toEqual(['c']);
    for (const [x, y] of [
      [100, 115],
      [203, 195],
    ] as const) {
      await page.mouse.click(x, y);
      expect(await runInPage(page, 'return [...shown.selection]')).toEqual([]);
    }
    await page.keyboard.press('Control+a');
    expect(await runInPage(page, 'return [...shown.selection]')).toEqual(['c']);
    await page.keyboard.press('Delete');
    expect((await getShapes(page)).map(({ id }) => id)).toEqual(['a', 'b']);
  },
);

verifies(
  'canvas.studio/keyboard',
  'an end of a line and the tip of a callout are held by G and moved by arrows, each as one step',
  async () => {
    const page = await openStudioPage(
      `put('arrow', 'a', { x1: 100, y1: 100, x2: 200, y2: 100, rotation: 90 }); put('callout', 'c', { x: 300, y: 50, width: 100, height: 40, tipX: 280, tipY: 200, text: 'Here' });`,
    );
    await page.keyboard.press('Tab');
    await page.keyboard.press('g');
    expect(await getAnnouncement(page)).toBe('Arrow keys move the start');
    await page.keyboard.press('g');
    expect(await getAnnouncement(page)).toBe('Arrow keys move the end');
    // A quarter turned it lies from (150, 50) to (150, 150).
    await page.keyboard.press('Shift+ArrowRight');
    await page.keyboard.press('ArrowDown');
    expect((await getShapes(page))[0]).toMatchObject({ x1: 150, y1: 50, x2: 160, y2: 151, rotation: 0 });
    expect(await getAnnouncement(page)).toBe('At 160, 151');
    await page.keyboard.press('g');
    expect(await getAnnouncement(page)).toBe('Arrow keys move the whole shape');
    await page.keyboard.press('ArrowDown');
    expect((await getShapes(page))[0]).toMatchObject({ x1: 150, y1: 51, x2: 160, y2: 152 });
    for (const key of ['Control+z', 'Control+z']) await page.keyboard.press(key);
    expect((await getShapes(page))[0]).toMatchObject({ x1: 100, y1: 100, x2: 200, y2: 100, rotation: 90 });
    await page.keyboard.press('Tab');
    await page.keyboard.press('g');
    expect(await getAnnouncement(page)).toBe('Arrow keys move the tip');
    await page.keyboard.press('ArrowLeft');
    expect((await getShapes(page))[1]).toMatchObject({ x: 300, y: 50, tipX: 279, tipY: 200 });
    // Escape lets go of the tip first.
    await page.keyboard.press('Escape');
    await page.keyboard.press('ArrowLeft');
    expect((await getShapes(page))[1]).toMatchObject({ x: 299, y: 50, tipX: 278, tipY: 200 });
  },
);

verifies('canvas.studio/touch', 'without keys squares are drawn, several are chosen and nothing snaps, once that is set', async () => {
  const page = await openStudioPage(ADD_THREE_SHAPES);
  await runInPage(page, 'shown.isStraight = true');
  await page.keyboard.press('r');
  await dragThrough(page, [300, 50], [360, 90]);
  expect(await getLastShape(page)).toMatchObject({ kind: 'rect', width: 60, height: 60 });
  await page.keyboard.press('Control+z');
  await page.keyboard.press('v');
  for (const [x, y] of [
    [100, 115],
    [203, 195],
  ] as const) {
    await page.mouse.click(x, y);
  }
  expect(await runInPage(page, 'return [...shown.selection]')).toEqual(['a', 'b']);
  // By 100 the left sides would be 3 apart, and so one.
  await runInPage(page, 'shown.isStraight = false; shown.select([])');
  await dragThrough(page, [100, 115], [200, 115]);
  expect((await getShapes(page))[0]).toMatchObject({ x: 203 });
  await page.keyboard.press('Control+z');
  await runInPage(page, 'shown.isSnapping = false; shown.select([])');
  await dragThrough(page, [100, 115], [200, 115]);
  expect((await getShapes(page))[0]).toMatchObject({ x: 200 });
});
