import type { Page } from 'playwright';
import { afterAll, beforeAll, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { listControls, tabTo } from './accessibility.ts';
import { dragThrough, createPen, createTouch } from './canvas-input.ts';
import { type CanvasSite, startCanvasSite } from './canvas-site.ts';
import { takeScreenshots } from './take-screenshots.ts';

let site: CanvasSite;
beforeAll(async () => void (site = await startCanvasSite()), 120_000);
afterAll(() => site[Symbol.asyncDispose]());

const run = (page: Page, script: string): Promise<unknown> => page.evaluate(`(async () => { ${script} })()`);

/** A page with something of the library in it, at its left upper corner. */
async function openCanvasPage(setupScript: string): Promise<Page> {
  const page = await site.browser.page(site.url);
  await page.waitForFunction(() => 'ui' in globalThis);
  await run(page, `document.body.style.margin = 0; show(${setupScript});`);
  return page;
}

/** Kinds of the drawn shapes. */
const getDrawnKinds = (page: Page): Promise<unknown> =>
  run(page, 'return (shown.canvas ?? shown).drawing.shapes.filter(({ locked }) => !locked).map(({ kind }) => kind)');
/** The last shape. */
const getLastShape = (page: Page): Promise<unknown> => run(page, 'return (shown.canvas ?? shown).drawing.shapes.at(-1)');

verifies('canvas.classes/freehand', 'a mouse draws a line of one width, in the colour and width that were set', async () => {
  const page = await openCanvasPage("new ui.FreehandCanvas({ width: 300, height: 200, stroke_color: 'red', stroke_width: 8 })");
  await dragThrough(page, [20, 20], [120, 20], [120, 120]);
  expect(await getLastShape(page)).toMatchObject({ kind: 'pen', color: '#ff0000', strokeWidth: 8 });
  await run(page, "shown.setStroke('#00f', 20)");
  await dragThrough(page, [20, 150], [200, 150]);
  expect(await getLastShape(page)).toMatchObject({ kind: 'pen', color: '#00f', strokeWidth: 20 });
  expect(await run(page, 'return pixels(await shown.capturePng(), [[70, 20], [120, 70], [100, 150], [60, 80]])')).toEqual({
    size: [300, 200],
    colors: ['#ff0000ff', '#ff0000ff', '#0000ffff', '#00000000'],
  });
  expect(await run(page, 'return [shown.undo(), shown.undo(), shown.undo()]')).toEqual([true, true, false]);
});

verifies('canvas.classes/pressure', 'a pen’s line is wider where it was pressed harder', async () => {
  const page = await openCanvasPage("new ui.FreehandCanvas(400, 200, 'black', 20)");
  const cdp = await page.context().newCDPSession(page);
  const light = Array.from({ length: 20 }, (_, at) => [20 + at * 8, 50, 0.1] as const);
  const hard = Array.from({ length: 20 }, (_, at) => [20 + at * 8, 130, 0.95] as const);
  await createPen(cdp, light);
  await createPen(cdp, hard);
  const strokes = (await run(
    page,
    'return shown.drawing.shapes.map(({ trace }) => trace.map(([, , pressure]) => pressure))',
  )) as number[][];
  expect(strokes.map((pressures) => Math.round(Math.max(...pressures) * 100))).toEqual([10, 95]);
  const heights = await run(
    page,
    `const rows = Array.from({ length: 200 }, (_, y) => [100, y]);
    const { colors } = await pixels(await shown.capturePng(), rows);
    const dark = (from, to) => colors.slice(from, to).filter((color) => color.endsWith('ff')).length;
    return [dark(0, 90), dark(90, 200)];`,
  );
  const [thin = 0, thick = 0] = heights as number[];
  expect(thin).toBeGreaterThan(5);
  expect(thick).toBeGreaterThan(thin * 1.5);
});

verifies(
  'canvas.classes/touch',
  'a finger draws; with a pen down, a hand on the screen does not, nor what the system took away',
  async () => {
    const page = await openCanvasPage("new ui.FreehandCanvas(300, 200, 'black', 6)");
    const cdp = await page.context().newCDPSession(page);
    await createTouch(cdp, 'touchStart', { x: 30, y: 30 });
    await createTouch(cdp, 'touchMove', { x: 90, y: 60 });
    await createTouch(cdp, 'touchEnd');
    expect(await getDrawnKinds(page)).toEqual(['pen']);
    expect(await getLastShape(page)).toMatchObject({
      trace: [
        [30, 30, 0.5],
        [90, 60, 0.5],
      ],
    });
    await createTouch(cdp, 'touchStart', { x: 10, y: 100 });
    await createTouch(cdp, 'touchMove', { x: 50, y: 100 });
    await createTouch(cdp, 'touchCancel');
    expect(await getDrawnKinds(page)).toEqual(['pen']);
    // The hand first, then the pen, and the hand again while the pen is down.
    await createTouch(cdp, 'touchStart', { x: 200, y: 150, id: 1 });
    await createPen(cdp, [
      [40, 120, 0.5],
      [140, 120, 0.5],
    ]);
    await createTouch(cdp, 'touchEnd');
    const traces = (await run(page, 'return shown.drawing.shapes.map(({ trace }) => trace.map(([, y]) => Math.round(y)))')) as number[][];
    expect(traces).toHaveLength(2);
    expect(new Set(traces[1])).toEqual(new Set([120]));
  },
);

verifies('canvas.classes/annotation', 'every tool, by its button and the mouse; the screen shows what is exported', async () => {
  const page = await openCanvasPage('new ui.AnnotationCanvas(await halves(400, 300), 400, 300)');
  await run(page, 'document.body.append(shown.buildToolbar()); await shown.ready; shown.strokeColor = "#00ff00"; shown.strokeWidth = 6;');
  const drags: [string, [number, number], [number, number]][] = [
    ['Pen', [20, 20], [80, 20]],
    ['Rectangle', [20, 60], [80, 100]],
    ['Circle', [120, 60], [180, 100]],
    ['Arrow', [220, 80], [300, 80]],
  ];
  for (const [tool, from, to] of drags) {
    await page.getByRole('button', { name: tool, exact: true }).click();
    await dragThrough(page, from, to);
    // A press is no rectangle.
    if (tool !== 'Pen') await page.mouse.click(350, 20);
  }
  await page.getByRole('button', { name: 'Numbered marker' }).click();
  for (const x of [50, 100]) await page.mouse.click(x, 200);
  await page.getByRole('button', { name: 'Text' }).click();
  await page.mouse.click(150, 200);
  await page.getByRole('textbox', { name: /^Text/ }).fill('שלום');
  await page.keyboard.press('Enter');
  await page.mouse.click(250, 200);
  await page.getByRole('textbox', { name: /^Text/ }).fill(' ');
  await page.keyboard.press('Escape');
  expect(await getDrawnKinds(page)).toEqual(['pen', 'rect', 'ellipse', 'arrow', 'marker', 'marker', 'text']);
  expect(await run(page, 'return shown.drawing.shapes.flatMap((shape) => shape.label ?? shape.text ?? [])')).toEqual(['1', '2', 'שלום']);
  const points = '[[50, 20], [20, 80], [50, 80], [150, 60], [150, 80], [250, 80], [38, 200], [350, 20], [10, 290]]';
  const exported = await run(page, `return (await pixels(await shown.capturePng(), ${points})).colors`);
  expect(exported).toEqual([
    '#00ff00ff',
    '#00ff00ff',
    '#ff0000ff',
    '#00ff00ff',
    '#ff0000ff',
    '#00ff00ff',
    '#00ff00ff',
    '#0000ffff',
    '#ff0000ff',
  ]);
  const onScreen = await page.locator('canvas').first().screenshot();
  expect(await run(page, `return (await pixels(new Uint8Array([${[...onScreen].join()}]), ${points})).colors`)).toEqual(exported);
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.getByRole('button', { name: 'Undo' }).click();
  expect(await getDrawnKinds(page)).toHaveLength(7);
  expect(await run(page, "try { shown.currentTool = 'axe' } catch (error) { return error.message }")).toMatch(/Unknown tool "axe"/);
});

verifies('canvas.classes/select', 'a shape is selected, moved, and enlarged by its corner; each is an undo step', async () => {
  const page = await openCanvasPage('new ui.AnnotationCanvas(await halves(400, 300), 400, 300)');
  await run(
    page,
    "await shown.ready; shown.add('rect', { x: 100, y: 100, width: 100, height: 50, color: '#00ff00' }); shown.currentTool = 'select';",
  );
  await dragThrough(page, [150, 125], [170, 145]);
  expect(await getLastShape(page)).toMatchObject({ x: 120, y: 120, width: 100, height: 50 });
  await dragThrough(page, [220, 170], [270, 195]);
  expect(await getLastShape(page)).toMatchObject({
    kind: 'rect',
    x: expect.closeTo(120, 0),
    width: expect.closeTo(150, 0),
    height: expect.closeTo(75, 0),
  });
  await run(page, 'shown.undo()');
  expect(await getLastShape(page)).toMatchObject({ x: 120, width: 100 });
  await run(page, 'shown.focus()');
  await page.keyboard.press('Delete');
  expect(await getDrawnKinds(page)).toEqual([]);
  await page.keyboard.press('Control+z');
  expect(await getDrawnKinds(page)).toEqual(['rect']);
});

verifies('canvas.classes/annotation', 'on the screen shapes lie as in the list, whatever moves them', async () => {
  const page = await openCanvasPage('new ui.FreehandCanvas(200, 200)');
  const distances = await run(
    page,
    `const ids = Array.from({ length: 12 }, (_, at) => shown.drawRect(at, at, 9, 9).id);
    const same = () => shown.stage.fabric.getObjects().map(({ shape }) => shape.id).join() === shown.drawing.shapes.map(({ id }) => id).join();
    const seen = [same()];
    const moves = ['front', 'back', 'forward', 'backward'];
    for (let at = 0; at < 40; at++) {
      shown.editor.move(ids.filter((_, nth) => (nth * 7 + at * 5) % 11 < 1 + (at % 4)), moves[at % 4]);
      seen.push(same(), shown.undo() && same(), shown.redo() && same());
      if (at % 10 === 9) shown.clear(), seen.push(same()), shown.undo();
      seen.push(same());
    }
    return seen.filter((each) => !each).length;`,
  );
  expect(distances).toBe(0);
});

verifies('canvas.classes/keyboard', 'all by keys alone: tool, shape, undo; and it is said', async () => {
  const page = await openCanvasPage(
    'new ui.CanvasPanel({ width: 400, height: 300, on_export: (bytes) => void (globalThis.exported = bytes) })',
  );
  expect(await listControls(page)).toEqual([
    ...['Select', 'Pen', 'Rectangle', 'Circle', 'Arrow', 'Numbered marker', 'Text'].map((name) => `button "${name}"`),
    'slider "Line width"',
    ...['Undo', 'Redo', 'Clear', 'Export as PNG'].map((name) => `button "${name}"`),
  ]);
  await tabTo(page, 'Select');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await tabTo(page, /^Drawing\. /);
  for (const key of ['ArrowLeft', 'Enter', 'ArrowRight', 'ArrowRight', 'Shift+ArrowDown', 'ArrowDown', 'Enter'])
    await page.keyboard.press(key);
  expect(await getLastShape(page)).toMatchObject({ kind: 'rect', x: 190, y: 150, width: 20, height: 11, color: '#000000' });
  expect(await page.getByRole('status').textContent()).toBe('rect drawn');
  for (const key of ['Enter', 'ArrowUp', 'Escape']) await page.keyboard.press(key);
  expect(await getDrawnKinds(page)).toEqual(['rect']);
  await page.keyboard.press('Control+z');
  expect(await getDrawnKinds(page)).toEqual([]);
  await page.keyboard.press('Control+Shift+z');
  expect(await getDrawnKinds(page)).toEqual(['rect']);
  await tabTo(page, /^(Select|Rectangle|Export)/, 'Shift+Tab');
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => 'exported' in globalThis);
  expect(await run(page, 'return pixels(exported, [[5, 5], [200, 150]])')).toEqual({
    size: [400, 300],
    colors: ['#ffffffff', '#000000ff'],
  });
});

verifies('canvas.classes/panel', 'panels follow their properties, and leave nothing behind', async () => {
  const page = await openCanvasPage("new ui.CanvasPanel(500, 300, 'ivory')");
  await run(page, "document.body.style.margin = '16px'; shown.currentTool = 'circle'; shown.strokeColor = 'rebeccapurple';");
  await expect.poll(() => page.getByRole('button', { name: 'Circle' }).getAttribute('aria-pressed')).toBe('true');
  expect(await page.getByLabel('Colour').inputValue()).toBe('#663399');
  expect(await page.getByRole('button', { name: 'Export as PNG' }).count()).toBe(0);
  await run(
    page,
    "for (const [at, kind] of ['drawRect', 'drawCircle'].entries()) shown.canvas[kind](...[[60, 100, 60, 60, 'tomato'], [300, 150, 50, 'teal']][at])",
  );
  await takeScreenshots(page, 'panel');
  await page.setViewportSize({ width: 282, height: 600 });
  const small = (await page.locator('canvas').last().boundingBox()) ?? expect.fail();
  expect([small.width, small.height]).toEqual([250, 150]);
  await dragThrough(page, [small.x + 50, small.y + 50], [small.x + 100, small.y + 80]);
  expect(await getLastShape(page)).toMatchObject({ kind: 'ellipse', cx: 150, cy: 130, rx: 50, ry: 30 });
  await run(page, "shown.currentTool = 'select'");
  await dragThrough(page, [small.x + 30 + 5, small.y + 50 + 5], [small.x + 45, small.y + 55]);
  expect(await run(page, 'return shown.canvas.drawing.shapes[0]')).toMatchObject({ kind: 'rect', x: 80, y: 100 });
  await run(page, 'await shown.dispose()');
  expect(await page.locator('canvas').count()).toBe(0);
  await run(page, "show(new ui.SimpleCanvasPanel({ width: 300, height: 150 })); document.body.style.margin = '0'");
  expect(await listControls(page)).not.toContain('button "Rectangle"');
  const box = (await page.locator('canvas').last().boundingBox()) ?? expect.fail();
  await dragThrough(page, [box.x + 20, box.y + 20], [box.x + 90, box.y + 60]);
  expect(await getDrawnKinds(page)).toEqual(['pen']);
  await page.getByRole('button', { name: 'Undo' }).click();
  expect(await getDrawnKinds(page)).toEqual([]);
  expect([site.browser.foreignRequests, site.browser.complaints]).toEqual([[], []]);
});
