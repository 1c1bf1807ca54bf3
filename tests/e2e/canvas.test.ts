import type { Page } from 'playwright';
import { afterAll, beforeAll, expect } from 'vitest';
import { Drawing } from '../../shared/canvas/drawing.ts';
import { Editor } from '../../shared/canvas/editor.ts';
import { drawingToJson } from '../../shared/canvas/drawing-file.ts';
import { KIND_NAMES, SAMPLES } from '../../shared/canvas/shape-samples.ts';
import { verifies } from '../requirements.ts';
import { type CanvasSite, startCanvasSite } from './canvas-site.ts';

let site: CanvasSite;
beforeAll(async () => void (site = await startCanvasSite()), 120_000);
afterAll(() => site[Symbol.asyncDispose]());

async function openCanvasPage(): Promise<Page> {
  const page = await site.browser.page(site.url);
  await page.waitForFunction(() => 'ui' in globalThis);
  return page;
}
/** Runs a script in the page, written out: the page's types are its own. */
const runInPage = (page: Page, script: string): Promise<unknown> => page.evaluate(`(async () => { ${script} })()`);

verifies(
  'canvas.classes/drawable',
  'each method draws what it says, and the PNG has its pixels at true size and at the device’s',
  async () => {
    const page = await openCanvasPage();
    expect(
      await runInPage(
        page,
        `const canvas = show(new ui.DrawableCanvas(200, 100));
      canvas.drawRect(10, 10, 20, 20, 'tomato');
      canvas.drawRect(40, 10, 20, 20, 'rgb(0 0 255)', false);
      canvas.drawCircle(80, 20, 10, '#0a0');
      canvas.drawLine(100, 20, 130, 20, '#f0f', 10);
      canvas.drawPolygon([[140, 10], { x: 160, y: 10 }, [160, 30], { x: 140, y: 30 }], 'teal');
      canvas.drawStar(20, 70, 20, 10, 5, 'orange');
      canvas.drawPath([ui.MoveTo(50, 50), ui.LineTo(90, 50), ui.CubicTo(90, 70, 90, 80, 90, 90), ui.QuadraticTo(70, 90, 50, 90), ui.ClosePath()], 'black');
      canvas.drawText(100, 40, '\u2588\u2588', 'red', 40);
      const points = [[20, 20], [50, 20], [50, 10], [80, 20], [115, 20], [150, 20], [20, 70], [70, 70], [190, 5], [120, 65]];
      const once = await pixels(await canvas.capturePng(), points);
      const twice = await pixels(await canvas.capturePng({ scale: 2 }), points.map(([x, y]) => [2 * x, 2 * y]));
      return [once, twice, canvas.drawing.shapes.map(({ kind }) => kind).join()];`,
      ),
    ).toEqual([
      {
        size: [200, 100],
        colors: [
          '#ff6347ff',
          '#00000000',
          expect.stringMatching(/^#0000ff/),
          '#00aa00ff',
          '#ff00ffff',
          '#008080ff',
          '#ffa500ff',
          '#000000ff',
          '#00000000',
          '#ff0000ff',
        ],
      },
      {
        size: [400, 200],
        colors: [
          '#ff6347ff',
          '#00000000',
          '#0000ffff',
          '#00aa00ff',
          '#ff00ffff',
          '#008080ff',
          '#ffa500ff',
          '#000000ff',
          '#00000000',
          '#ff0000ff',
        ],
      },
      'rect,rect,ellipse,line,polygon,star,path,text',
    ]);
  },
);

verifies('canvas.classes/drawable', 'a PNG has the pixels of the screen where nothing else is said', async () => {
  const page = await openCanvasPage();
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Emulation.setDeviceMetricsOverride', { width: 800, height: 600, deviceScaleFactor: 1.5, mobile: false });
  expect(
    await runInPage(
      page,
      `const canvas = show(new ui.DrawableCanvas(200, 100));
      canvas.drawRect(10, 10, 20, 20, new ui.PaintStyle({ color: 'tomato', fill: true }));
      return [await pixels(await canvas.capturePng(), [[30, 30]]), (await pixels(await canvas.capturePng({ scale: 1 }), [])).size];`,
    ),
  ).toEqual([{ size: [300, 150], colors: ['#ff6347ff'] }, [200, 100]]);
});

verifies('canvas.classes/drawable', 'shapes are popped, removed and cleared; what does not fit is said', async () => {
  const page = await openCanvasPage();
  expect(
    await runInPage(
      page,
      `const canvas = show(new ui.DrawableCanvas({ width: 50, height: 50, background: 'white' }));
      const first = canvas.drawRect(0, 0, 10, 10, new ui.PaintStyle({ color: 'red', stroke_width: 2, fill: false, anti_alias: false }));
      const second = canvas.drawCircle(20, 20, 5);
      canvas.drawLine(0, 0, 5, 5);
      const popped = canvas.popShape().kind;
      const removed = [canvas.removeShape(first), canvas.removeShape(first)];
      const left = canvas.drawing.shapes.map(({ id }) => id === second.id);
      canvas.clear();
      const cleared = [canvas.drawing.shapes.length, canvas.popShape(), canvas.undo(), canvas.drawing.shapes.length];
      const wrong = [() => canvas.drawRect(0, 0, 1, 1, 'no colour'), () => canvas.drawRect(0, 0, NaN, 1), () => canvas.drawStar(0, 0, 1, 1, 1), () => canvas.drawCircle(0, 0, -1), () => canvas.drawPolygon('0,0'), () => canvas.drawPolygon([[0, 0], [1]]), () => canvas.drawPolygon([[0, 0], { x: 1, y: NaN }])].map((call) => {
        try { return call(); } catch (error) { return \`\${error.name}: \${error.message}\`; }
      });
      const large = await canvas.capturePng({ scale: 1000 }).catch((error) => error.message);
      return { first: [first.strokeWidth, first.fill, first.antiAlias], popped, removed, left, cleared, wrong, large };`,
    ),
  ).toEqual({
    first: [2, false, false],
    popped: 'line',
    removed: [true, false],
    left: [true],
    cleared: [0, undefined, true, 1],
    wrong: [
      'TypeError: "no colour" is not a colour',
      'RangeError: The rect can’t be drawn: “w” must be a number, not NaN.',
      'RangeError: The star can’t be drawn: “points” must be at least 2.',
      'RangeError: The ellipse can’t be drawn: “r” must be at least 0.',
      'TypeError: A polygon needs a list of points, such as [[0, 0], [20, 0], [10, 15]].',
      'TypeError: Point 2 of the polygon must be [x, y] or { x, y } with two numbers.',
      'RangeError: The polygon can’t be drawn: “points[1][1]” must be a number, not NaN.',
    ],
    large: 'Can’t export an image of 50000 × 50000 pixels',
  });
});

verifies('canvas.classes/crisp', 'without smooth edges every pixel is the colour or none', async () => {
  const page = await openCanvasPage();
  const kindsOfPixels = (antiAlias: boolean): Promise<unknown> =>
    runInPage(
      page,
      `const canvas = new ui.DrawableCanvas(40, 40);
      canvas.drawCircle(20.3, 20.3, 12.4, new ui.PaintStyle({ antiAlias: ${antiAlias} }));
      const points = Array.from({ length: 1600 }, (_, at) => [at % 40, Math.floor(at / 40)]);
      return new Set((await pixels(await canvas.capturePng(), points)).colors).size;`,
    );
  expect(await kindsOfPixels(false)).toBe(2);
  expect(await kindsOfPixels(true)).toBeGreaterThan(5);
});

verifies('canvas.classes/image', 'a rectangle follows a `PaintStyle`, and the properties passed with it', async () => {
  const page = await openCanvasPage();
  expect(
    await runInPage(
      page,
      `const canvas = show(new ui.ImageCanvas(await halves(100, 50), 200, 200));
      const style = new ui.PaintStyle({ color: '#00ff00', stroke_width: 8 });
      const drawn = [canvas.drawRect(1, 1, 9, 9), canvas.drawRect(1, 1, 9, 9, style), canvas.drawRect(1, 1, 9, 9, { strokeWidth: 5 }), canvas.drawRect(1, 1, 9, 9, style, false, 2)];
      return drawn.map(({ fill, strokeWidth }) => [fill, strokeWidth]);`,
    ),
  ).toEqual([
    [false, 3],
    [true, 8],
    [false, 5],
    [false, 2],
  ]);
});

verifies('canvas.classes/image', 'the picture is fitted in, annotated, changed; an invalid one is reported', async () => {
  const page = await openCanvasPage();
  expect(
    await runInPage(
      page,
      `const canvas = show(new ui.ImageCanvas({ image_src: await halves(100, 50), width: 200, height: 200 }));
      canvas.drawRect(10, 60, 40, 40, '#0f0', true);
      canvas.drawArrow(150, 100, 190, 100, '#ff0');
      canvas.drawMarker(100, 20, 1, 'black');
      canvas.drawText(10, 10, 'Here', 'black');
      const points = [[30, 80], [70, 100], [130, 60], [165, 100], [100, 8], [5, 190]];
      const first = await pixels(await canvas.capturePng(), points);
      canvas.clear();
      const kept = canvas.drawing.shapes.map(({ kind }) => kind);
      await canvas.setImage(await halves(50, 100));
      const second = await pixels(await canvas.capturePng(), [[60, 100], [140, 190], [20, 100]]);
      const wrong = await canvas.setImage(new Blob(['no picture'], { type: 'image/png' })).catch((error) => error.message);
      const gone = await new ui.ImageCanvas('/none.png', 10, 10).capturePng().catch((error) => error.message);
      await canvas.setImage(await halves(100, 50));
      return [first, kept, second, wrong, gone];`,
    ),
  ).toEqual([
    { size: [200, 200], colors: ['#00ff00ff', '#ff0000ff', '#0000ffff', '#ffff00ff', '#000000ff', '#00000000'] },
    ['image'],
    { size: [200, 200], colors: ['#ff0000ff', '#0000ffff', '#00000000'] },
    'The browser can’t read this image',
    'Couldn’t load the picture /none.png (HTTP 404).',
  ]);
});

verifies('canvas.classes/image', 'an SVG from a file, an address, a data URL or its text is a picture', async () => {
  const page = await openCanvasPage();
  const svg =
    '<svg xmlns="http://www.w3.org/2000/svg" width="100" height="50"><rect width="50" height="50" fill="#f00"/><rect x="50" width="50" height="50" fill="#00f"/></svg>';
  expect(
    await runInPage(
      page,
      `const svg = ${JSON.stringify(svg)};
      const sources = [svg, new Blob([svg], { type: 'image/svg+xml;charset=utf-8' }), 'data:image/svg+xml,' + encodeURIComponent(svg), 'data:image/svg+xml;base64,' + btoa(svg)];
      const found = [];
      for (const source of sources) found.push(await pixels(await new ui.ImageCanvas(source, 200, 200).capturePng({ scale: 1 }), [[50, 100], [150, 100], [100, 20]]));
      const bare = await pixels(await new ui.ImageCanvas(svg.replace(' width="100" height="50"', ' viewBox="0 0 100 50"'), 200, 200).capturePng({ scale: 1 }), [[50, 100], [150, 100]]);
      const wrong = await new ui.ImageCanvas('<svg><rect', 10, 10).capturePng().catch((error) => error.message);
      return [found.map(({ colors }) => colors.join()), bare.colors, wrong];`,
    ),
  ).toEqual([
    Array(4).fill('#ff0000ff,#0000ffff,#00000000'),
    ['#ff0000ff', '#0000ffff'],
    'The browser can’t read this SVG. Check that it is well-formed and has xmlns="http://www.w3.org/2000/svg".',
  ]);
});

const SECRET = 'Password: hunter2';
verifies(
  'canvas.export/redaction',
  'what is under it is neither in the pixels nor in the bytes, of PNG, JPEG and SVG, at any scale',
  async () => {
    const page = await openCanvasPage();
    const seen = await runInPage(
      page,
      `const canvas = show(new ui.ImageCanvas(await halves(100, 100), 100, 100));
    await canvas.ready;
    const source = canvas.drawing.shapes[0].src;
    canvas.add('text', { x: 12, y: 22, text: ${JSON.stringify(SECRET)}, size: 8, color: '#ffffff' });
    canvas.add('redaction', { x: 10.4, y: 20.6, width: 80.3, height: 20.2, color: '#00000001' });
    canvas.add('rect', { x: 45, y: 70, width: 10, height: 10, color: '#00ff00' });
    const sees = [];
    for (const scale of [1, 1.25, 2, 3]) {
      const edge = [];
      const [left, top, right, bottom] = [10.4, 20.6, 90.7, 40.8].map((at, nth) => (nth < 2 ? Math.floor(at * scale) : Math.ceil(at * scale) - 1));
      for (let x = left; x <= right; x++) edge.push([x, top], [x, bottom], [x, Math.round(30 * scale)]);
      for (let y = top; y <= bottom; y++) edge.push([left, y], [right, y]);
      const { colors } = await pixels(await canvas.capturePng({ scale }), edge);
      sees.push([...new Set(colors)].join());
    }
    const jpeg = await ui.exportImage(canvas.drawing, { type: 'image/jpeg', quality: 1 });
    const { colors: inJpeg } = await pixels(jpeg, [[30, 30], [70, 30]], 'image/jpeg');
    const svg = await canvas.captureSvg({ scale: 2 });
    const inSvg = await svgPixels(svg, [[30, 30], [70, 30], [12, 25], [50, 75], [5, 5], [95, 95]]);
    const plain = ui.drawingToSvg(canvas.drawing);
    return { sees, inJpeg, inSvg, tells: [svg, plain].map((text) => [text.includes('Password'), text.includes('hunter2'), text.includes(source.slice(40, 120))]), vector: svg.includes('#00ff00') };`,
    );
    expect(seen).toEqual({
      sees: Array.from({ length: 4 }, () => '#000000ff'),
      inJpeg: ['#000000ff', '#000000ff'],
      inSvg: { size: [100, 100], colors: ['#000000ff', '#000000ff', '#000000ff', '#00ff00ff', '#ff0000ff', '#0000ffff'] },
      tells: [
        [false, false, false],
        [false, false, false],
      ],
      vector: true,
    });
  },
);

verifies('canvas.export/blur', 'a blur mixes what is under it, and a picture that the sheet cuts off is not in the SVG whole', async () => {
  const page = await openCanvasPage();
  expect(
    await runInPage(
      page,
      `const canvas = show(new ui.ImageCanvas(await halves(100, 100), 100, 100));
      await canvas.ready;
      const source = canvas.drawing.shapes[0].src;
      canvas.add('blur', { x: 40, y: 40, width: 20, height: 20, strength: 20 });
      const { colors: [mixed, beside] } = await pixels(await canvas.capturePng(), [[50, 50], [50, 80]]);
      canvas.popShape();
      const whole = (await canvas.captureSvg()).includes(source);
      canvas.editor.setPage({ x: 50, width: 50 });
      const cut = await canvas.captureSvg();
      return [mixed, beside, whole, cut.includes(source), (await svgPixels(cut, [[10, 10]])), (await pixels(await canvas.capturePng(), [[10, 10]]))];`,
    ),
  ).toEqual([
    expect.stringMatching(/^#[78].00[78].ff$/),
    '#0000ffff',
    true,
    false,
    { size: [50, 100], colors: ['#0000ffff'] },
    { size: [50, 100], colors: ['#0000ffff'] },
  ]);
});

verifies('canvas.export/worker', 'a worker draws every kind to the same PNG as the page, and the SVG shows the same', async () => {
  const page = await openCanvasPage();
  const editor = new Editor(new Drawing({ width: 160, height: 160, background: '#ffffff' }));
  for (const kind of KIND_NAMES.filter((each) => each !== 'blur' && each !== 'redaction'))
    editor.add(kind, { ...SAMPLES[kind], opacity: 0.8 });
  const json = JSON.stringify(drawingToJson(editor.drawing));
  const seen = await runInPage(
    page,
    `const drawing = ui.drawingFromJson(${json});
    const worker = new Worker('/worker.js', { type: 'module' });
    const there = await new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(message));
      worker.postMessage(${json});
    });
    if (there.error) return there.error;
    const here = await ui.exportImage(drawing, { scale: 2 });
    const points = Array.from({ length: 160 * 160 }, (_, at) => [at % 160, Math.floor(at / 160)]);
    const [png, svg] = [await pixels(await ui.exportImage(drawing), points), await svgPixels(there.svg, points)];
    const far = (a, b) => [1, 3, 5].some((at) => Math.abs(parseInt(a.slice(at, at + 2), 16) - parseInt(b.slice(at, at + 2), 16)) > 48);
    return { same: here.length === there.png.length && here.every((byte, at) => byte === there.png[at]), size: svg.size,
      drawn: new Set(png.colors).size > 20, differ: png.colors.filter((color, at) => far(color, svg.colors[at])).length / points.length };`,
  );
  expect(seen).toMatchObject({ same: true, size: [160, 160], drawn: true });
  expect((seen as { differ: number }).differ).toBeLessThan(0.005);
});
