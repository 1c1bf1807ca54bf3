import type { Page } from 'playwright';
import { afterAll, beforeAll, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { drag, touch } from './canvas-input.ts';
import { type CanvasSite, canvasSite } from './canvas-served.ts';
import { shoot } from './shoot.ts';

let site: CanvasSite;
beforeAll(async () => void (site = await canvasSite(undefined, undefined, 'tests/e2e/studio-face.ts')), 120_000);
afterAll(() => site[Symbol.asyncDispose]());

const run = (page: Page, script: string): Promise<unknown> => page.evaluate(`(async () => { ${script} })()`);

/** A page that is all studio, its sheet of 600 × 400 at (0, 0) and as large as it is; what `setup` adds is no step. */
async function studio(setup = ''): Promise<Page> {
  const page = await site.browser.page(site.url);
  await page.setViewportSize({ width: 700, height: 500 });
  await page.waitForFunction(() => 'ui' in globalThis);
  await run(
    page,
    `document.body.style.cssText = 'margin: 0; height: 100vh';
    const drawing = new ui.Drawing({ width: 600, height: 400, background: '#ffffff' });
    const put = (kind, id, more = {}, order) => {
      const { id: _, ...fields } = ui.shapeOf(kind, more);
      drawing.write([[id, { ...fields, order: order ?? 'a' + drawing.shapes.length.toString(36), removed: false }]]);
    };
    ${setup}
    globalThis.sized = new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    show(new ui.Studio(drawing));
    await sized;
    shown.view.zoomTo(1, { x: 0, y: 0 });
    shown.view.pan(...Object.values(shown.view.at({ x: 0, y: 0 })));
    globalThis.said = [];
    new MutationObserver(() => said.push(shown.element.querySelector('[role=status]').textContent)).observe(shown.element.querySelector('[role=status]'), { childList: true });
    shown.focus();`,
  );
  return page;
}

const shapes = (page: Page): Promise<Record<string, unknown>[]> =>
  run(page, 'return shown.drawing.shapes') as Promise<Record<string, unknown>[]>;
const last = async (page: Page): Promise<Record<string, unknown>> => (await shapes(page)).at(-1) ?? expect.fail('nothing is drawn');
const said = (page: Page): Promise<unknown> => run(page, 'return shown.element.querySelector("[role=status]").textContent');

verifies('canvas.studio/tools', 'each tool by its key, with the mouse', async () => {
  const page = await studio();
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
    await drag(page, [100, 100], [220, 160]);
    expect(await last(page)).toMatchObject(expected);
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
  await drag(page, [300, 300], [450, 250]);
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
  const list = await shapes(page);
  expect(list.slice(drags.length)).toMatchObject([
    { kind: 'marker', x: 300, y: 50, label: '1' },
    { kind: 'marker', label: '2' },
    { kind: 'text', text: 'a text', x: 300, y: 190 },
    { kind: 'callout', text: 'a callout', tipX: 300, tipY: 300, x: 360 },
    { kind: 'polygon', points: corners.slice(0, 3).map((corner) => [...corner]) },
  ]);
  expect(list).toHaveLength(drags.length + 5);
  await page.keyboard.press('e');
  await drag(page, [280, 52], [380, 52]);
  expect((await shapes(page)).map(({ kind }) => kind)).not.toContain('marker');
  await page.keyboard.press('Control+z');
  expect(await shapes(page)).toHaveLength(list.length);
  // The hand moves what is seen, and nothing else; so does the space bar while it is held.
  await page.keyboard.press('h');
  await drag(page, [300, 300], [310, 320]);
  expect(await run(page, 'return shown.view.on({ x: 0, y: 0 })')).toEqual({ x: 10, y: 20 });
  await page.keyboard.press('r');
  await page.keyboard.down(' ');
  await drag(page, [310, 320], [300, 300]);
  await page.keyboard.up(' ');
  expect(await run(page, 'return shown.view.on({ x: 0, y: 0 })')).toEqual({ x: 0, y: 0 });
  expect(await shapes(page)).toHaveLength(list.length);
  for (let step = 0; step < list.length; step++) await page.keyboard.press('Control+z');
  expect(await shapes(page)).toEqual([]);
  expect(await run(page, 'return shown.canUndo')).toBe(false);
});

verifies('canvas.studio/tools', 'Shift makes squares and straight lines; Escape leaves nothing behind', async () => {
  const page = await studio();
  await page.keyboard.down('Shift');
  for (const key of ['r', 'l', 'p']) {
    await run(page, `shown.tool = { r: 'rect', l: 'line', p: 'pen' }['${key}']`);
    await drag(page, [100, 100], [200, 104]);
  }
  await page.keyboard.up('Shift');
  expect(await shapes(page)).toMatchObject([
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
  expect(await shapes(page)).toHaveLength(3);
  expect(await run(page, 'return shown.tool')).toBe('pen');
});

const THREE = `put('rect', 'a', { x: 100, y: 100, width: 40, height: 30 });
  put('rect', 'b', { x: 203, y: 180, width: 40, height: 30 });
  put('ellipse', 'c', { cx: 400, cy: 300, rx: 40, ry: 20, fill: false });`;

verifies('canvas.studio/select', 'chosen by press, Shift and rubber band; moved, resized, turned; one step each', async () => {
  const page = await studio(THREE);
  const chosen = (): Promise<unknown> => run(page, 'return [...shown.selection]');
  await page.mouse.click(120, 115);
  expect(await chosen()).toEqual(['a']);
  await page.keyboard.down('Shift');
  await page.mouse.click(220, 195);
  await page.keyboard.up('Shift');
  expect(await chosen()).toEqual(['a', 'b']);
  await drag(page, [120, 115], [130, 145]);
  expect(await shapes(page)).toMatchObject([{ x: 110, y: 130 }, { x: 213, y: 210 }, { cx: 400 }]);
  await page.keyboard.press('Control+z');
  expect(await shapes(page)).toMatchObject([{ x: 100 }, { x: 203 }, { cx: 400 }]);
  await page.mouse.click(20, 20);
  expect(await chosen()).toEqual([]);
  // What lies wholly within, and not what is touched.
  await drag(page, [90, 90], [300, 300]);
  expect(await chosen()).toEqual(['a', 'b']);
  await shoot(page, 'studio-selection');
  await page.mouse.click(440, 300);
  expect(await chosen()).toEqual(['c']);
  // Its right lower corner, then what turns it.
  await page.keyboard.down('Control');
  await drag(page, [440, 320], [480, 360]);
  await page.keyboard.up('Control');
  expect(await last(page)).toMatchObject({ cx: 420, cy: 320, rx: 60, ry: 40 });
  await drag(page, [420, 252], [500, 320]);
  expect(await last(page)).toMatchObject({ rotation: expect.closeTo(90, 1) });
  for (let step = 0; step < 2; step++) await page.keyboard.press('Control+z');
  expect(await last(page)).toMatchObject({ cx: 400, rx: 40, rotation: 0 });
  expect(await run(page, 'return shown.canUndo')).toBe(false);
});

verifies(
  'canvas.studio/select',
  'what is near another is drawn to it, but not with Mod held; a line keeps the end that is not dragged',
  async () => {
    const page = await studio(`${THREE} put('arrow', 'd', { x1: 50, y1: 350, x2: 150, y2: 350 });`);
    // Four pixels short of the left edge of the one above.
    await drag(page, [220, 195], [121, 250]);
    expect(await run(page, 'return shown.drawing.shape("b")')).toMatchObject({ x: 100, y: 235 });
    await page.keyboard.press('Control+z');
    await page.mouse.move(220, 195);
    await page.mouse.down();
    await page.keyboard.down('Control');
    await page.mouse.move(121, 250, { steps: 4 });
    await page.mouse.up();
    await page.keyboard.up('Control');
    expect(await run(page, 'return shown.drawing.shape("b")')).toMatchObject({ x: 104, y: 235 });
    await page.mouse.click(100, 350);
    await drag(page, [150, 350], [150, 380]);
    expect(await last(page)).toMatchObject({ x1: 50, y1: 350, x2: 150, y2: 380, rotation: 0 });
  },
);

verifies(
  'canvas.studio/arrange',
  'keys move the pile, duplicate, nudge, flip and take away; a nudge that is held is one step',
  async () => {
    const page = await studio(THREE);
    await page.mouse.click(120, 115);
    await page.keyboard.press('Control+]');
    expect((await shapes(page)).map(({ id }) => id)).toEqual(['b', 'a', 'c']);
    await page.keyboard.press('Control+Shift+]');
    expect((await shapes(page)).map(({ id }) => id)).toEqual(['b', 'c', 'a']);
    for (const key of ['ArrowRight', 'ArrowRight', 'Shift+ArrowDown']) await page.keyboard.press(key);
    expect(await last(page)).toMatchObject({ x: 102, y: 110 });
    await page.keyboard.press('Alt+Shift+ArrowRight');
    expect(await last(page)).toMatchObject({ width: 50, height: 30 });
    await page.keyboard.press('.');
    expect(await last(page)).toMatchObject({ rotation: 15 });
    await page.keyboard.press('Shift+H');
    expect(await last(page)).toMatchObject({ rotation: -15 });
    await page.keyboard.press('Control+d');
    expect(await shapes(page)).toHaveLength(4);
    expect(await last(page)).toMatchObject({ x: 118, y: 126, rotation: -15 });
    await page.keyboard.press('Delete');
    expect(await shapes(page)).toHaveLength(3);
    await run(page, "shown.selectAll(); shown.align('left'); shown.distribute('y'); shown.lock(['b'], true); shown.hide(['c'], true)");
    expect(await run(page, 'return [...shown.selection].sort()')).toEqual(['a', 'b', 'c']);
    await page.keyboard.press('Delete');
    expect((await shapes(page)).map(({ id }) => id)).toEqual(['b']);
    expect(await run(page, 'while (shown.undo()); return shown.drawing.shapes.map(({ id, x, cx }) => [id, x ?? cx])')).toEqual([
      ['a', 100],
      ['b', 203],
      ['c', 400],
    ]);
  },
);

verifies('canvas.studio/arrange', 'a crop by its frame, by mouse and by keys; the sheet is turned; both are taken back', async () => {
  const page = await studio(`put('image', 'p', { x: 0, y: 0, width: 600, height: 400, src: await halves(600, 400) });`);
  const sheet = (): Promise<unknown> => run(page, 'const { x, y, width, height } = shown.drawing.page; return [x, y, width, height]');
  await page.keyboard.press('c');
  await drag(page, [0, 0], [200, 100]);
  await drag(page, [600, 400], [500, 300]);
  expect(await sheet()).toEqual([0, 0, 600, 400]);
  await page.keyboard.press('Enter');
  expect(await sheet()).toEqual([200, 100, 300, 200]);
  expect(await run(page, 'return pixels(await ui.exportImage(shown.drawing), [[50, 50], [150, 50]])')).toEqual({
    size: [300, 200],
    colors: ['#ff0000ff', '#0000ffff'],
  });
  await page.keyboard.press('c');
  await drag(page, [300, 250], [320, 260]);
  await page.keyboard.press('Escape');
  expect([await sheet(), await run(page, 'return shown.tool')]).toEqual([[200, 100, 300, 200], 'select']);
  await page.keyboard.press('c');
  for (const key of ['ArrowRight', 'Shift+ArrowRight', 'Alt+Shift+ArrowUp', 'Enter']) await page.keyboard.press(key);
  expect(await sheet()).toEqual([211, 100, 300, 190]);
  await run(page, 'shown.undo(); shown.undo(); shown.rotate(90)');
  expect(await run(page, 'return pixels(await ui.exportImage(shown.drawing), [[200, 50], [200, 550]])')).toEqual({
    size: [400, 600],
    colors: ['#ff0000ff', '#0000ffff'],
  });
  await run(page, "shown.undo(); shown.flip('x')");
  expect(await run(page, 'return (await pixels(await ui.exportImage(shown.drawing), [[50, 50], [550, 50]])).colors')).toEqual([
    '#0000ffff',
    '#ff0000ff',
  ]);
  expect(await run(page, 'return (await svgPixels(await ui.exportSvg(shown.drawing), [[50, 50], [550, 50]])).colors')).toEqual([
    '#0000ffff',
    '#ff0000ff',
  ]);
});

verifies('canvas.studio/clipboard', 'what is cut in one studio is pasted in another; other text is refused', async () => {
  const page = await studio(THREE);
  await page.keyboard.press('Control+a');
  const text = await run(page, 'return shown.cut()');
  expect(await shapes(page)).toEqual([]);
  const other = await studio();
  const pasted = await other.evaluate(
    ([clip]) => {
      const studio = Reflect.get(globalThis, 'shown') as { paste(text: string, at?: object): boolean; selection: string[] };
      return [
        studio.paste('hello'),
        studio.paste('{"format":"perch-shapes"}'),
        studio.paste(String(clip), { x: 300, y: 200 }),
        studio.selection.length,
      ];
    },
    [text],
  );
  expect(pasted).toEqual([false, false, true, 3]);
  const list = await shapes(other);
  expect(list.map(({ kind }) => kind)).toEqual(['rect', 'rect', 'ellipse']);
  expect(list.map(({ id }) => id)).not.toContain('a');
  await other.keyboard.press('Control+z');
  expect(await shapes(other)).toEqual([]);
});

verifies('canvas.studio/text', 'an input method composes to its end, also with Enter; from right to left; emptied it goes', async () => {
  const page = await studio(`put('callout', 'k', { x: 300, y: 100, width: 160, height: 60, tipX: 280, tipY: 220, text: 'old' });`);
  const cdp = await page.context().newCDPSession(page);
  await page.keyboard.press('t');
  await page.mouse.click(50, 60);
  const field = page.getByRole('textbox');
  await field.waitFor();
  await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('TEXTAREA');
  await cdp.send('Input.imeSetComposition', { text: 'にほん', selectionStart: 3, selectionEnd: 3 });
  // As a browser has it: the Enter that takes the word is part of composing.
  await field.evaluate((at) =>
    at.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true, cancelable: true })),
  );
  expect(await field.inputValue()).toBe('にほん');
  expect(await shapes(page)).toHaveLength(1);
  await cdp.send('Input.insertText', { text: '日本' });
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.type('שלום v');
  expect(await field.getAttribute('dir')).toBe('auto');
  await page.keyboard.press('Enter');
  expect(await last(page)).toMatchObject({ kind: 'text', text: '日本\nשלום v' });
  expect(await field.count()).toBe(0);
  // In place: by a double click; Escape gives up, Enter takes it.
  await page.keyboard.press('v');
  await page.mouse.dblclick(380, 120);
  expect(await field.inputValue()).toBe('old');
  await page.keyboard.type('not this');
  await page.keyboard.press('Escape');
  expect((await shapes(page))[0]).toMatchObject({ text: 'old' });
  await page.keyboard.press('Enter');
  await field.fill('new');
  await page.keyboard.press('Enter');
  expect((await shapes(page))[0]).toMatchObject({ text: 'new' });
  await page.keyboard.press('Control+z');
  expect((await shapes(page))[0]).toMatchObject({ text: 'old' });
  await page.keyboard.press('Enter');
  await field.fill(' ');
  await page.keyboard.press('Enter');
  expect((await shapes(page)).map(({ kind }) => kind)).toEqual(['text']);
  await page.keyboard.press('Control+z');
  expect((await shapes(page)).map(({ kind }) => kind)).toEqual(['callout', 'text']);
});

verifies('canvas.studio/touch', 'one finger draws, a second one turns that into zoom and pan about both', async () => {
  const page = await studio();
  const cdp = await page.context().newCDPSession(page);
  await page.keyboard.press('p');
  await touch(cdp, 'touchStart', { x: 50, y: 50 });
  await touch(cdp, 'touchMove', { x: 90, y: 60 });
  await touch(cdp, 'touchEnd');
  await expect.poll(() => shapes(page)).toHaveLength(1);
  await touch(cdp, 'touchStart', { x: 200, y: 200, id: 1 });
  await touch(cdp, 'touchMove', { x: 220, y: 200, id: 1 });
  await touch(cdp, 'touchStart', { x: 220, y: 200, id: 1 }, { x: 320, y: 200, id: 2 });
  await touch(cdp, 'touchMove', { x: 170, y: 200, id: 1 }, { x: 370, y: 200, id: 2 });
  await expect.poll(() => run(page, 'return shown.zoom')).toBeCloseTo(2, 5);
  // What was between the fingers still is.
  await expect
    .poll(() => run(page, 'return shown.view.at({ x: 270, y: 200 })'))
    .toEqual({ x: expect.closeTo(270, 3), y: expect.closeTo(200, 3) });
  await touch(cdp, 'touchMove', { x: 170, y: 250, id: 1 }, { x: 370, y: 250, id: 2 });
  await expect
    .poll(() => run(page, 'return shown.view.at({ x: 270, y: 250 })'))
    .toEqual({ x: expect.closeTo(270, 3), y: expect.closeTo(200, 3) });
  await touch(cdp, 'touchEnd', { x: 170, y: 250, id: 1 });
  await touch(cdp, 'touchMove', { x: 100, y: 100, id: 1 });
  await touch(cdp, 'touchEnd');
  expect(await shapes(page)).toHaveLength(1);
});

verifies('canvas.studio/touch', 'a pen draws as it is pressed, and a hand beside it neither draws nor zooms', async () => {
  const page = await studio();
  const cdp = await page.context().newCDPSession(page);
  await page.keyboard.press('p');
  // The hand first; then the pen, and while it is down a second part of the hand.
  await touch(cdp, 'touchStart', { x: 400, y: 300, id: 1 });
  const send = (type: 'mousePressed' | 'mouseMoved' | 'mouseReleased', x: number, force: number) =>
    cdp.send('Input.dispatchMouseEvent', { type, x, y: 100, force, pointerType: 'pen', button: 'left', buttons: 1, clickCount: 1 });
  await send('mousePressed', 50, 0.2);
  await touch(cdp, 'touchStart', { x: 400, y: 300, id: 1 }, { x: 450, y: 300, id: 2 });
  await touch(cdp, 'touchMove', { x: 380, y: 300, id: 1 }, { x: 480, y: 300, id: 2 });
  await send('mouseMoved', 150, 0.9);
  await send('mouseReleased', 150, 0.9);
  await touch(cdp, 'touchEnd');
  await expect.poll(() => shapes(page)).toHaveLength(1);
  const { trace } = (await last(page)) as { trace: [number, number, number][] };
  expect(trace.map(([, y]) => Math.round(y))).toEqual(trace.map(() => 100));
  expect([trace[0]?.[2], trace.at(-1)?.[2]]).toEqual([expect.closeTo(0.2, 2), expect.closeTo(0.9, 2)]);
  expect(await run(page, 'return shown.zoom')).toBe(1);
});

verifies('canvas.studio/touch', 'the wheel pans, with Mod it zooms about the pointer; keys zoom from 5 % to 4000 %', async () => {
  const page = await studio();
  await page.mouse.move(200, 100);
  await page.mouse.wheel(30, 40);
  await expect.poll(() => run(page, 'return shown.view.on({ x: 0, y: 0 })')).toEqual({ x: -30, y: -40 });
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -50);
  await page.keyboard.up('Control');
  await expect.poll(() => run(page, 'return shown.zoom')).toBeCloseTo(Math.exp(0.5), 5);
  expect(await run(page, 'return shown.view.at({ x: 200, y: 100 })')).toEqual({ x: expect.closeTo(230, 6), y: expect.closeTo(140, 6) });
  await page.keyboard.press('Control+0');
  expect(await run(page, 'return shown.zoom')).toBe(1);
  await page.keyboard.press('Control+Equal');
  expect(await run(page, 'return shown.zoom')).toBe(1.25);
  for (let press = 0; press < 25; press++) await page.keyboard.press('Control+-');
  expect(await run(page, 'return shown.zoom')).toBe(0.05);
  for (let press = 0; press < 40; press++) await page.keyboard.press('Control+Equal');
  expect(await run(page, 'return shown.zoom')).toBe(40);
  await page.keyboard.press('Shift+Digit1');
  const whole = (await run(page, 'return shown.view.box')) as { x: number; y: number; width: number; height: number };
  expect([whole.x <= 0, whole.y <= 0, whole.x + whole.width >= 600, whole.y + whole.height >= 400]).toEqual([true, true, true, true]);
});

verifies('canvas.studio/keyboard', 'keys alone: draw, go from shape to shape, change, and it is said', async () => {
  const page = await studio();
  await page.keyboard.press('r');
  expect(await said(page)).toBe('Tool: Rectangle');
  for (const key of ['Enter', 'ArrowRight', 'ArrowRight', 'Shift+ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
  expect(await last(page)).toMatchObject({ kind: 'rect', x: 300, y: 200, width: 20, height: 11 });
  expect(await said(page)).toBe('Rectangle drawn');
  for (const key of ['n', 'ArrowLeft', 'Enter', 'Enter', 't', 'ArrowUp', 'Enter', 'Enter']) await page.keyboard.press(key);
  await page.getByRole('textbox').fill('Look here');
  await page.keyboard.press('Enter');
  for (const key of ['y', 'Enter', 'Enter', 'ArrowLeft', 'Enter', 'Enter', 'ArrowUp', 'Enter', 'Enter', 'Enter', 'Enter'])
    await page.keyboard.press(key);
  expect((await shapes(page)).map(({ kind }) => kind)).toEqual(['rect', 'marker', 'text', 'polygon']);
  await page.keyboard.press('v');
  const heard: unknown[] = [];
  for (const key of ['Tab', 'Tab', 'Tab', 'Tab', 'Shift+Tab']) {
    await page.keyboard.press(key);
    heard.push(await said(page));
  }
  expect(heard).toEqual(['Rectangle, 1 of 4', 'Marker 1, 2 of 4', 'Text Look here, 3 of 4', 'Polygon, 4 of 4', 'Text Look here, 3 of 4']);
  await page.keyboard.press('Enter');
  await page.getByRole('textbox').fill('There');
  await page.keyboard.press('Enter');
  expect((await shapes(page))[2]).toMatchObject({ text: 'There' });
  await page.keyboard.press('Delete');
  expect(await said(page)).toBe('Removed Text There');
  // Past the last the focus goes on: nobody is caught.
  for (const key of ['Tab', 'Tab', 'Tab', 'Tab']) await page.keyboard.press(key);
  expect(await page.evaluate('document.activeElement.tagName')).toBe('BODY');
  await run(page, 'shown.focus()');
  for (const key of ['Tab', 'Escape']) await page.keyboard.press(key);
  expect([await said(page), await run(page, 'return [...shown.selection]')]).toEqual(['Nothing selected', []]);
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.tagName')).toBe('BODY');
});

verifies('canvas.studio/redaction', 'what is redacted is in neither pixels nor bytes of what is exported', async () => {
  const page = await studio(`put('text', 's', { x: 100, y: 100, text: 'hunter2', size: 30 });`);
  await page.keyboard.press('x');
  await drag(page, [90, 90], [260, 150]);
  await page.keyboard.press('Control+a');
  await run(page, "shown.color = '#ff000010'");
  expect(await last(page)).toMatchObject({ kind: 'redaction', color: '#ff000010' });
  const { colors } = (await run(
    page,
    'return pixels(await ui.exportImage(shown.drawing), Array.from({ length: 170 * 60 }, (_, at) => [90 + (at % 170), 90 + Math.floor(at / 170)]))',
  )) as { colors: string[] };
  expect(new Set(colors)).toEqual(new Set(['#ff0000ff']));
  const bytes = (await run(
    page,
    'return [await ui.exportSvg(shown.drawing), String.fromCharCode(...(await ui.exportImage(shown.drawing)))]',
  )) as string[];
  for (const each of bytes) expect(each).not.toContain('hunter2');
  await page.keyboard.press('u');
  expect(await said(page)).toBe('Tool: Blur (cosmetic)');
});

verifies('canvas.studio/draft', 'a stroke is told while it is drawn, at most once a frame, and shown elsewhere', async () => {
  const page = await studio();
  await run(
    page,
    `globalThis.drafts = []; globalThis.frames = 0;
    const frame = () => { frames++; requestAnimationFrame(frame); };
    requestAnimationFrame(frame);
    shown.onDraft = (shape) => drafts.push(shape && structuredClone(shape));`,
  );
  await page.keyboard.press('p');
  await page.mouse.move(50, 50);
  await page.mouse.down();
  await page.mouse.move(150, 90, { steps: 10 });
  await expect.poll(() => run(page, 'return drafts.at(-1)?.trace?.length')).toBeGreaterThan(5);
  const before = (await run(page, 'return [drafts.length, frames]')) as [number, number];
  expect(before[0]).toBeLessThanOrEqual(before[1] + 1);
  const draft = await run(page, 'return drafts.at(-1)');
  expect(await shapes(page)).toEqual([]);
  await page.mouse.up();
  await expect.poll(() => run(page, 'return [drafts.length, drafts.at(-1)]')).toEqual([expect.any(Number), undefined]);
  expect(await shapes(page)).toHaveLength(1);
  const other = await studio();
  const ink = (): Promise<unknown> =>
    run(
      other,
      'const { width, height } = shown.surface; return shown.surface.getContext("2d").getImageData(0, 0, width, height).data.some((each) => each > 0)',
    );
  expect(await ink()).toBe(false);
  await other.evaluate(
    ([shape]) => (Reflect.get(globalThis, 'shown') as { showDraft(who: string, shape: unknown): void }).showDraft('ana', shape),
    [draft],
  );
  await expect.poll(ink).toBe(true);
  await run(other, "shown.showDraft('ana', undefined)");
  await expect.poll(ink).toBe(false);
  await run(other, 'await shown.dispose()');
  expect([await other.locator('canvas').count(), site.browser.complaints]).toEqual([0, []]);
});
