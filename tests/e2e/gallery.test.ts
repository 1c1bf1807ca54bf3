import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import pixelmatch from 'pixelmatch';
import type { Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Drawing } from '../../shared/canvas/drawing.ts';
import { Editor } from '../../shared/canvas/editor.ts';
import type { NewShape, Shape } from '../../shared/canvas/shape-fields.ts';
import { drawingToJson } from '../../shared/canvas/drawing-file.ts';
import { getMarks } from '../../shared/canvas/marks.ts';
import { createGalleryPage } from '../gallery/gallery-page.ts';
import { SCENES } from '../gallery/gallery-scenes.ts';
import { type CanvasSite, startCanvasSite } from './canvas-site.ts';

const PICTURES = join(import.meta.dirname, '../../docs/gallery');
/** `PERCH_PICTURES=write` renews the pictures in the repository. */
const SHOULD_WRITE = process.env.PERCH_PICTURES === 'write';
/** Folder for the new picture of a failed test. */
const FAILED_DIR = join(import.meta.dirname, '../../test-results/gallery');

let site: CanvasSite;
let page: Page;
beforeAll(async () => {
  site = await startCanvasSite();
  page = await site.browser.page(site.url);
  await page.waitForFunction(() => 'ui' in globalThis);
}, 120_000);
afterAll(() => site[Symbol.asyncDispose]());

interface Picture {
  width: number;
  height: number;
  /** Four bytes a pixel. */
  data: number[];
}

const runInPage = (script: string): Promise<unknown> => page.evaluate(`(async () => { ${script} })()`);
const READ_PIXELS = `const read = async (source) => {
  const { width, height } = source;
  const context = new OffscreenCanvas(width, height).getContext('2d');
  context.drawImage(source, 0, 0);
  return { width, height, data: [...context.getImageData(0, 0, width, height).data] };
};
const decoded = async (bytes) => read(await createImageBitmap(new Blob([new Uint8Array(bytes)], { type: 'image/png' })));`;
const decodePicture = (png: Uint8Array): Promise<Picture> =>
  runInPage(`${READ_PIXELS} return decoded([${png.join()}])`) as Promise<Picture>;

/** A drawing as a browser's PNG. */
async function drawPicture(drawing: Drawing): Promise<Uint8Array> {
  const json = JSON.stringify(drawingToJson(drawing));
  return new Uint8Array((await runInPage(`return [...await ui.exportImage(ui.drawingFromJson(${json}))]`)) as number[]);
}

/** Letters differ from machine to machine: their boxes, generously, become white. */
function maskText({ width, height, data }: Picture, shapes: readonly Shape[]): Uint8ClampedArray {
  const pixels = Uint8ClampedArray.from(data);
  for (const mark of shapes.flatMap((shape) => getMarks(shape))) {
    if (mark.type !== 'text') continue;
    const reach = Math.max(...mark.lines.map((line) => line.length)) * mark.size;
    const left = Math.max(0, Math.floor(mark.centered ? mark.x - reach / 2 : mark.x - mark.size / 4));
    const right = Math.min(width, Math.ceil(mark.centered ? mark.x + reach / 2 : mark.x + reach));
    const bottom = Math.min(height, Math.ceil(mark.y + mark.lines.length * mark.size * 1.25));
    for (let y = Math.max(0, Math.floor(mark.y)); y < bottom; y++) pixels.fill(255, (y * width + left) * 4, (y * width + right) * 4);
  }
  return pixels;
}

for (const { name, drawing } of SCENES) {
  test(`gallery: ${name} is painted as in docs/gallery/${name}.png`, async () => {
    const png = await drawPicture(drawing);
    const file = join(PICTURES, `${name}.png`);
    if (SHOULD_WRITE) {
      mkdirSync(PICTURES, { recursive: true });
      writeFileSync(file, png);
    }
    const [now, before] = [await decodePicture(png), await decodePicture(readFileSync(file))];
    expect([now.width, now.height]).toEqual([before.width, before.height]);
    const [ours, stored] = [maskText(now, drawing.shapes), maskText(before, drawing.shapes)];
    const different = pixelmatch(ours, stored, undefined, now.width, now.height, { threshold: 0.1 });
    if (different > 20) {
      mkdirSync(FAILED_DIR, { recursive: true });
      writeFileSync(join(FAILED_DIR, `${name}.png`), png);
    }
    expect(different).toBeLessThanOrEqual(20);
  });
}

test('gallery: letters are there, read from either side', async () => {
  const { drawing } = SCENES.find(({ name }) => name === 'text') ?? expect.fail();
  const { width, data } = await decodePicture(await drawPicture(drawing));
  const ink = (from: number, to: number): number => data.slice(from * width * 4, to * width * 4).filter((value) => value < 128).length;
  expect(ink(15, 75)).toBeGreaterThan(300);
  expect(ink(90, 120)).toBeGreaterThan(200);
});

test('gallery: the page shows every icon, light and dark, and asks nobody for anything else', async () => {
  for (const colorScheme of ['light', 'dark'] as const) {
    const tab = await site.browser.page();
    await tab.emulateMedia({ colorScheme });
    await tab.setContent(createGalleryPage().replaceAll('src="gallery/', 'data-src="'));
    const icons = await tab.locator('.icons svg').evaluateAll((all) => all.map((each) => each.getBoundingClientRect().height));
    expect(icons.length).toBeGreaterThan(75);
    expect(new Set(icons)).toEqual(new Set([32]));
    const shades = await tab.evaluate(() => {
      const { color, backgroundColor } = getComputedStyle(document.documentElement);
      return [color, backgroundColor].map((each) => Number(/\d+/.exec(each)?.[0]) > 128);
    });
    expect(shades).toEqual(colorScheme === 'dark' ? [true, false] : [false, true]);
    await tab.close();
  }
  expect(site.browser.foreignRequests).toEqual([]);
});

const arbitraryPoint = fc.integer({ min: 10, max: 150 });
const arbitraryLength = fc.integer({ min: 5, max: 60 });
const arbitraryStyle = {
  color: fc.constantFrom('#d92d20', '#0b57d0', '#16a34a', '#00000080'),
  rotation: fc.integer({ min: 0, max: 359 }),
  opacity: fc.constantFrom(1, 0.5),
  strokeWidth: fc.integer({ min: 1, max: 12 }),
};
const area = { ...arbitraryStyle, fill: fc.boolean() };
const rect = fc.record({
  ...area,
  x: arbitraryPoint,
  y: arbitraryPoint,
  width: arbitraryLength,
  height: arbitraryLength,
  radius: fc.integer({ min: 0, max: 20 }),
});
const ellipse = fc.record({ ...area, cx: arbitraryPoint, cy: arbitraryPoint, rx: arbitraryLength, ry: arbitraryLength });
const star = fc.record({
  ...area,
  cx: arbitraryPoint,
  cy: arbitraryPoint,
  outer: arbitraryLength,
  inner: arbitraryLength,
  spikes: fc.integer({ min: 2, max: 9 }),
});
const arbitraryEnds = fc.record({ ...arbitraryStyle, x1: arbitraryPoint, y1: arbitraryPoint, x2: arbitraryPoint, y2: arbitraryPoint });
const pen = fc.record({
  ...arbitraryStyle,
  trace: fc.array(fc.tuple(arbitraryPoint, arbitraryPoint, fc.constantFrom(0, 0.5, 1)), { minLength: 2, maxLength: 6 }),
});
const arbitraryShape = fc.oneof(
  rect.map((shape) => ['rect', shape] as const),
  ellipse.map((shape) => ['ellipse', shape] as const),
  star.map((shape) => ['star', shape] as const),
  arbitraryEnds.map((shape) => ['line', shape] as const),
  arbitraryEnds.map((shape) => ['arrow', shape] as const),
  pen.map((shape) => ['pen', shape] as const),
);

test('canvas.export: any drawing is the same through SVG and through the canvas', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(arbitraryShape, { minLength: 1, maxLength: 6 }), async (shapes) => {
      const drawing = new Drawing({ width: 160, height: 160, background: '#ffffff' });
      const editor = new Editor(drawing);
      for (const [kind, shape] of shapes) editor.add(kind, shape as NewShape<typeof kind>);
      const json = JSON.stringify(drawingToJson(drawing));
      const [canvas, svg] = (await runInPage(`${READ_PIXELS}
        const drawing = ui.drawingFromJson(${json});
        const image = new Image();
        image.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(await ui.exportSvg(drawing));
        await image.decode();
        return [await decoded(await ui.exportImage(drawing)), await read(image)];`)) as [Picture, Picture];
      const different = pixelmatch(Uint8ClampedArray.from(canvas.data), Uint8ClampedArray.from(svg.data), undefined, 160, 160, {
        threshold: 0.15,
      });
      expect(different).toBeLessThan(160 * 160 * 0.005);
    }),
    { numRuns: 10, seed: 8 },
  );
});

test('canvas.screen: thousands of shapes that are kept as pixels are on the screen as in the export, also after changes and movements', async () => {
  const apart = (await runInPage(`${READ_PIXELS}
    const canvas = show(new ui.DrawableCanvas({ width: 300, height: 200, background: 'white' }));
    const step = (nth) => [(nth * 73) % 280, (nth * 37) % 180];
    for (let nth = 0; nth < 700; nth++) canvas.drawCircle(...step(nth), 4 + (nth % 9), ['tomato', 'teal', 'navy'][nth % 3]);
    canvas.add('blur', { x: 40, y: 40, width: 120, height: 80, strength: 10 });
    canvas.add('highlighter', { points: [[10, 10], [250, 150]] });
    canvas.add('redaction', { x: 200, y: 100, width: 50, height: 50 });
    const { fabric } = canvas.stage;
    // As the browser puts them above each other.
    const screenshot = () => {
      const whole = document.createElement('canvas');
      Object.assign(whole, { width: 300, height: 200 });
      const base = fabric.wrapperEl.getBoundingClientRect();
      for (const layer of fabric.wrapperEl.querySelectorAll('canvas')) {
        const { x, y, width, height } = layer.getBoundingClientRect();
        if (getComputedStyle(layer).visibility === 'visible') whole.getContext('2d').drawImage(layer, x - base.x, y - base.y, width, height);
      }
      return whole;
    };
    const differ = async () => {
      fabric.renderAll();
      const screen = (await read(screenshot())).data;
      const file = (await decoded(await canvas.capturePng())).data;
      return screen.reduce((most, value, at) => Math.max(most, Math.abs(value - file[at])), 0);
    };
    const first = canvas.drawing.shapes[5];
    const seen = [await differ()];
    canvas.editor.set(first.id, { cx: 100, cy: 80, rx: 40, ry: 30, color: '#ffff00' });
    seen.push(await differ());
    canvas.editor.move([first.id], 'front');
    seen.push(await differ());
    canvas.drawRect(60, 60, 30, 30, 'lime');
    seen.push(await differ());
    while (canvas.undo() && seen.length < 10) seen.push(await differ());
    const settled = async (view) => {
      fabric.setViewportTransform(view);
      for (let nth = 0; nth < 200; nth++) fabric.renderAll();
    };
    await settled([1, 0, 0, 1, 290, 190]);
    await settled([2.5, 0, 0, 2.5, -100, -80]);
    canvas.drawRect(10, 150, 30, 30, 'lime');
    await settled([1, 0, 0, 1, 0, 0]);
    seen.push(await differ());
    return seen;`)) as number[];
  expect(apart).toHaveLength(11);
  // Smooth edges are rounded otherwise at another place of a canvas; a shape that is missing is further off.
  expect(Math.max(...apart)).toBeLessThan(64);
});

test('canvas.screen: a pixel canvas is disposed of while painting is pending', async () => {
  const left = await runInPage(`
    const canvas = show(new ui.DrawableCanvas({ width: 300, height: 200 }));
    for (let nth = 0; nth < 700; nth++) canvas.drawCircle(nth % 280, nth % 180, 8, 'teal');
    const { fabric } = canvas.stage;
    fabric.renderAll();
    fabric.setViewportTransform([3, 0, 0, 3, 0, 0]);
    fabric.renderAll();
    await canvas.dispose();
    return document.querySelectorAll('.perch-layers').length;`);
  expect(left).toBe(0);
});
