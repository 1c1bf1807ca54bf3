import type { CDPSession, Page } from 'playwright';
import { afterAll, beforeAll, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { type CanvasSite, canvasSite } from './canvas-served.ts';

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

async function drag(page: Page, ...points: readonly (readonly [number, number])[]): Promise<void> {
  const [[x, y] = [0, 0], ...rest] = points;
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (const [toX, toY] of rest) await page.mouse.move(toX, toY, { steps: 4 });
  await page.mouse.up();
}

const touch = (
  cdp: CDPSession,
  type: 'touchStart' | 'touchMove' | 'touchEnd',
  ...points: readonly { x: number; y: number; id?: number }[]
) => cdp.send('Input.dispatchTouchEvent', { type, touchPoints: [...points] });

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
  }
  expect(await shapes(page)).toHaveLength(drags.length);
});
