import { expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { dragThrough } from './canvas-input.ts';
import { takeScreenshots } from './take-screenshots.ts';
import { getLastShape, runInPage, useStudioSite, getShapes, openStudioPage, ADD_THREE_SHAPES } from './studio-page.ts';

useStudioSite();

verifies('canvas.studio/tools', 'each tool by its key, with the mouse', async () => {
  const page = await openStudioPage();
  const drags: [key: string, expected: object][] = [
    ['p', { kind: 'pen' }],
    ['i', { kind: 'highlighter' }],
    ['r', { kind: 'rect', x: 100, y: 100, width: 120, height: 60, fill: false, color: '#d92d20', strokeWidth: 3 }],
    ['o', { kind: 'ellipse', cx: 160, cy: 130, rx: 60, ry: 30 }],
    ['l', { kind: 'line', x1: 100, y1: 100, x2: 220, y2: 160 }],
    ['a', { kind: 'arrow', x1: 100, y1: 100, x2: 220, y2: 160 }],
    ['s', { kind: 'star', cx: 160, cy: 130, outer: 60 }],
    ['x', { kind: 'redaction', x: 100, y: 100, width: 120, height: 60 }],
    ['u', { kind: 'blur', x: 100, y: 100, width: 120, height: 60 }],
  ];
  for (const [key, expected] of drags) {
    await page.keyboard.press(key);
    await dragThrough(page, [100, 100], [220, 160]);
    expect(await getLastShape(page)).toMatchObject(expected);
    // A press is no shape, but a dot of a pen is.
    if (!'pi'.includes(key)) await page.mouse.click(400, 300);
  }
  await page.keyboard.press('n');
  for (const x of [300, 350]) await page.mouse.click(x, 50);
  await page.keyboard.press('t');
  await page.mouse.click(300, 200);
  await page.getByRole('textbox').fill('a text');
  await page.keyboard.press('Enter');
  await page.keyboard.press('b');
  await dragThrough(page, [300, 300], [450, 250]);
  await page.getByRole('textbox').fill('a callout');
  await page.keyboard.press('Enter');
  await page.keyboard.press('y');
  const corners = [
    [500, 50],
    [560, 50],
    [530, 120],
    [500, 52],
  ] as const;
  for (const [x, y] of corners) await page.mouse.click(x, y);
  const list = await getShapes(page);
  expect(list.slice(drags.length)).toMatchObject([
    { kind: 'marker', x: 300, y: 50, label: '1' },
    { kind: 'marker', label: '2' },
    { kind: 'text', text: 'a text', x: 300, y: 190 },
    { kind: 'callout', text: 'a callout', tipX: 300, tipY: 300, x: 360 },
    { kind: 'polygon', points: corners.slice(0, 3).map((corner) => [...corner]) },
  ]);
  expect(list).toHaveLength(drags.length + 5);
  // Enter closes one, too.
  for (const [x, y] of [
    [400, 50],
    [460, 50],
    [430, 120],
  ] as const)
    await page.mouse.click(x, y);
  await page.keyboard.press('Enter');
  expect(await getLastShape(page)).toMatchObject({
    kind: 'polygon',
    points: [
      [400, 50],
      [460, 50],
      [430, 120],
    ],
  });
  await page.keyboard.press('Control+z');
  await page.keyboard.press('e');
  await dragThrough(page, [280, 52], [380, 52]);
  expect((await getShapes(page)).map(({ kind }) => kind)).not.toContain('marker');
  await page.keyboard.press('Control+z');
  expect(await getShapes(page)).toHaveLength(list.length);
  // The hand moves what is seen, and nothing else; so does the space bar while it is held.
  await page.keyboard.press('h');
  await dragThrough(page, [300, 300], [310, 320]);
  expect(await runInPage(page, 'return shown.view.toElementPoint({ x: 0, y: 0 })')).toEqual({ x: 10, y: 20 });
  await page.keyboard.press('r');
  await page.keyboard.down(' ');
  await dragThrough(page, [310, 320], [300, 300]);
  await page.keyboard.up(' ');
  expect(await runInPage(page, 'return shown.view.toElementPoint({ x: 0, y: 0 })')).toEqual({ x: 0, y: 0 });
  expect(await getShapes(page)).toHaveLength(list.length);
  for (let step = 0; step < list.length; step++) await page.keyboard.press('Control+z');
  expect(await getShapes(page)).toEqual([]);
  expect(await runInPage(page, 'return shown.canUndo')).toBe(false);
});

verifies('canvas.studio/tools', 'Shift makes squares and straight lines; Escape leaves nothing behind', async () => {
  const page = await openStudioPage();
  await page.keyboard.down('Shift');
  for (const key of ['r', 'l', 'p']) {
    await runInPage(page, `shown.tool = { r: 'rect', l: 'line', p: 'pen' }['${key}']`);
    await dragThrough(page, [100, 100], [200, 104]);
  }
  await page.keyboard.up('Shift');
  expect(await getShapes(page)).toMatchObject([
    { kind: 'rect', width: 100, height: 100 },
    { kind: 'line', y2: 100, x2: expect.closeTo(200, 0) },
    { kind: 'pen', trace: [[100, 100, 0.5], expect.anything()] },
  ]);
  await page.mouse.move(100, 200);
  await page.mouse.down();
  await page.mouse.move(200, 250, { steps: 3 });
  await page.keyboard.press('Escape');
  await page.mouse.move(300, 250);
  await page.mouse.up();
  expect(await getShapes(page)).toHaveLength(3);
  expect(await runInPage(page, 'return shown.tool')).toBe('pen');
});

verifies('canvas.studio/select', 'chosen by press, Shift and rubber band; moved, resized, turned; one step each', async () => {
  const page = await openStudioPage(ADD_THREE_SHAPES);
  const chosen = (): Promise<unknown> => runInPage(page, 'return [...shown.selection]');
  await page.mouse.click(120, 115);
  expect(await chosen()).toEqual(['a']);
  await page.keyboard.down('Shift');
  await page.mouse.click(220, 195);
  await page.keyboard.up('Shift');
  expect(await chosen()).toEqual(['a', 'b']);
  await dragThrough(page, [120, 115], [130, 145]);
  expect(await getShapes(page)).toMatchObject([{ x: 110, y: 130 }, { x: 213, y: 210 }, { cx: 400 }]);
  await page.keyboard.press('Control+z');
  expect(await getShapes(page)).toMatchObject([{ x: 100 }, { x: 203 }, { cx: 400 }]);
  await page.mouse.click(20, 20);
  expect(await chosen()).toEqual([]);
  // Selects shapes that are completely inside, not those that are only touched.
  await dragThrough(page, [90, 90], [300, 300]);
  expect(await chosen()).toEqual(['a', 'b']);
  await takeScreenshots(page, 'studio-selection');
  await page.mouse.click(440, 300);
  expect(await chosen()).toEqual(['c']);
  // Its right lower corner, then what turns it.
  await page.keyboard.down('Control');
  await dragThrough(page, [440, 320], [480, 360]);
  await page.keyboard.up('Control');
  expect(await getLastShape(page)).toMatchObject({ cx: 420, cy: 320, rx: 60, ry: 40 });
  await dragThrough(page, [420, 252], [500, 320]);
  expect(await getLastShape(page)).toMatchObject({ rotation: expect.closeTo(90, 1) });
  for (let step = 0; step < 2; step++) await page.keyboard.press('Control+z');
  expect(await getLastShape(page)).toMatchObject({ cx: 400, rx: 40, rotation: 0 });
  expect(await runInPage(page, 'return shown.canUndo')).toBe(false);
});

verifies('canvas.studio/select', 'shapes snap to each other, except with Mod held; a line keeps its other end', async () => {
  const page = await openStudioPage(`${ADD_THREE_SHAPES} put('arrow', 'd', { x1: 50, y1: 350, x2: 150, y2: 350 });`);
  // Four pixels short of the left edge of the one above.
  await dragThrough(page, [220, 195], [121, 250]);
  expect(await runInPage(page, 'return shown.drawing.shape("b")')).toMatchObject({ x: 100, y: 235 });
  await page.keyboard.press('Control+z');
  await page.mouse.move(220, 195);
  await page.mouse.down();
  await page.keyboard.down('Control');
  await page.mouse.move(121, 250, { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up('Control');
  expect(await runInPage(page, 'return shown.drawing.shape("b")')).toMatchObject({ x: 104, y: 235 });
  await page.mouse.click(100, 350);
  await dragThrough(page, [150, 350], [150, 380]);
  expect(await getLastShape(page)).toMatchObject({ x1: 50, y1: 350, x2: 150, y2: 380, rotation: 0 });
});

verifies(
  'canvas.studio/arrange',
  'keys move the pile, duplicate, nudge, flip and take away; a nudge that is held is one step',
  async () => {
    const page = await openStudioPage(ADD_THREE_SHAPES);
    await page.mouse.click(120, 115);
    await page.keyboard.press('Control+]');
    expect((await getShapes(page)).map(({ id }) => id)).toEqual(['b', 'a', 'c']);
    await page.keyboard.press('Control+Shift+]');
    expect((await getShapes(page)).map(({ id }) => id)).toEqual(['b', 'c', 'a']);
    for (const key of ['ArrowRight', 'ArrowRight', 'Shift+ArrowDown']) await page.keyboard.press(key);
    expect(await getLastShape(page)).toMatchObject({ x: 102, y: 110 });
    await page.keyboard.press('Alt+Shift+ArrowRight');
    expect(await getLastShape(page)).toMatchObject({ width: 50, height: 30 });
    await page.keyboard.press('.');
    expect(await getLastShape(page)).toMatchObject({ rotation: 15 });
    await page.keyboard.press('Shift+H');
    expect(await getLastShape(page)).toMatchObject({ rotation: -15 });
    await page.keyboard.press('Control+d');
    expect(await getShapes(page)).toHaveLength(4);
    expect(await getLastShape(page)).toMatchObject({ x: 118, y: 126, rotation: -15 });
    await page.keyboard.press('Delete');
    expect(await getShapes(page)).toHaveLength(3);
    await runInPage(
      page,
      "shown.selectAll(); shown.align('left'); shown.distribute('y'); shown.lock(['b'], true); shown.hide(['c'], true)",
    );
    expect(await runInPage(page, 'return [...shown.selection]')).toEqual(['a']);
    await runInPage(page, "shown.select(['a', 'b', 'c'])");
    await page.keyboard.press('Delete');
    expect((await getShapes(page)).map(({ id }) => id)).toEqual(['b']);
    expect(await runInPage(page, 'while (shown.undo()); return shown.drawing.shapes.map(({ id, x, cx }) => [id, x ?? cx])')).toEqual([
      ['a', 100],
      ['b', 203],
      ['c', 400],
    ]);
  },
);

verifies('canvas.studio/arrange', 'a crop by its frame, by mouse and by keys; the sheet is turned; both are taken back', async () => {
  const page = await openStudioPage(`put('image', 'p', { x: 0, y: 0, width: 600, height: 400, src: await halves(600, 400) });`);
  const sheet = (): Promise<unknown> => runInPage(page, 'const { x, y, width, height } = shown.drawing.page; return [x, y, width, height]');
  await page.keyboard.press('c');
  await dragThrough(page, [0, 0], [200, 100]);
  await dragThrough(page, [600, 400], [500, 300]);
  expect(await sheet()).toEqual([0, 0, 600, 400]);
  await page.keyboard.press('Enter');
  expect(await sheet()).toEqual([200, 100, 300, 200]);
  expect(await runInPage(page, 'return pixels(await ui.exportImage(shown.drawing), [[50, 50], [150, 50]])')).toEqual({
    size: [300, 200],
    colors: ['#ff0000ff', '#0000ffff'],
  });
  await page.keyboard.press('c');
  await dragThrough(page, [300, 250], [320, 260]);
  await page.keyboard.press('Escape');
  expect([await sheet(), await runInPage(page, 'return shown.tool')]).toEqual([[200, 100, 300, 200], 'select']);
  await page.keyboard.press('c');
  for (const key of ['ArrowRight', 'Shift+ArrowRight', 'Alt+Shift+ArrowUp', 'Enter']) await page.keyboard.press(key);
  expect(await sheet()).toEqual([211, 100, 300, 190]);
  await runInPage(page, 'shown.undo(); shown.undo(); shown.rotate(90)');
  expect(await runInPage(page, 'return pixels(await ui.exportImage(shown.drawing), [[200, 50], [200, 550]])')).toEqual({
    size: [400, 600],
    colors: ['#ff0000ff', '#0000ffff'],
  });
  await runInPage(page, "shown.undo(); shown.flip('x')");
  expect(await runInPage(page, 'return (await pixels(await ui.exportImage(shown.drawing), [[50, 50], [550, 50]])).colors')).toEqual([
    '#0000ffff',
    '#ff0000ff',
  ]);
  expect(await runInPage(page, 'return (await svgPixels(await ui.exportSvg(shown.drawing), [[50, 50], [550, 50]])).colors')).toEqual([
    '#0000ffff',
    '#ff0000ff',
  ]);
});
