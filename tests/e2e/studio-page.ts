import type { Page } from 'playwright';
import { afterAll, beforeAll, expect } from 'vitest';
import { type CanvasSite, startCanvasSite } from './canvas-site.ts';

export let site: CanvasSite;

/** Serves the studio to the tests of the calling file. */
export function useStudioSite(): void {
  beforeAll(async () => void (site = await startCanvasSite(undefined, undefined, 'tests/e2e/studio-exports.ts')), 120_000);
  afterAll(() => site[Symbol.asyncDispose]());
}

export const runInPage = (page: Page, script: string): Promise<unknown> => page.evaluate(`(async () => { ${script} })()`);

/** A page that is all studio, its sheet of 600 × 400 at (0, 0) and as large as it is; what `setup` adds is no step. */
export async function openStudioPage(setup = ''): Promise<Page> {
  const page = await site.browser.page(site.url);
  await page.setViewportSize({ width: 700, height: 500 });
  await page.waitForFunction(() => 'ui' in globalThis);
  await runInPage(
    page,
    `document.body.style.cssText = 'margin: 0; height: 100vh';
    const drawing = new ui.Drawing({ width: 600, height: 400, background: '#ffffff' });
    const put = (kind, id, more = {}, order) => {
      const { id: _, ...fields } = ui.createSampleShape(kind, more);
      drawing.write([[id, { ...fields, order: order ?? 'a' + drawing.shapes.length.toString(36), removed: false }]]);
    };
    ${setup}
    globalThis.sized = new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    show(new ui.Studio(drawing));
    await sized;
    shown.view.zoomTo(1, { x: 0, y: 0 });
    shown.view.pan(...Object.values(shown.view.toDrawingPoint({ x: 0, y: 0 })));
    globalThis.said = [];
    new MutationObserver(() => said.push(shown.element.querySelector('[role=status]').textContent)).observe(shown.element.querySelector('[role=status]'), { childList: true });
    shown.focus();`,
  );
  return page;
}

export const getShapes = (page: Page): Promise<Record<string, unknown>[]> =>
  runInPage(page, 'return shown.drawing.shapes') as Promise<Record<string, unknown>[]>;
export const getLastShape = async (page: Page): Promise<Record<string, unknown>> =>
  (await getShapes(page)).at(-1) ?? expect.fail('nothing is drawn');
export const getAnnouncement = (page: Page): Promise<unknown> =>
  runInPage(page, 'return shown.element.querySelector("[role=status]").textContent');

/** Script for `openStudioPage` that adds three shapes, `a`, `b` and `c`. */
export const ADD_THREE_SHAPES = `put('rect', 'a', { x: 100, y: 100, width: 40, height: 30 });
  put('rect', 'b', { x: 203, y: 180, width: 40, height: 30 });
  put('ellipse', 'c', { cx: 400, cy: 300, rx: 40, ry: 20, fill: false });`;
