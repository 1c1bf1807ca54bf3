import { readFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright';
import { afterAll, beforeAll } from 'vitest';
import type { Change } from '../../shared/canvas/change.ts';
import { STUDIO_TOOLS, type StudioTool, TOOL_NAMES } from '../../web/canvas/studio/studio-tools.ts';
import { waitFor } from '../support/test-gateway.ts';
import { launchBrowser, type TestBrowser } from './test-browser.ts';
import { waitForConnection } from './connection-status.ts';
import { type Perch, startPerch } from './perch-process.ts';
import { connectOutside, type OutsideClient } from './outside-client.ts';

/** A gateway, a linked browser, and a program. */
export interface AnnotateFixture {
  readonly perch: Perch;
  readonly browser: TestBrowser;
  readonly outside: OutsideClient;
}

/** For all tests of a `describe`; it is there once they run. */
export function useAnnotateFixture(): { readonly at: AnnotateFixture } {
  const parts = new AsyncDisposableStack();
  let started: AnnotateFixture | undefined;
  beforeAll(async () => {
    // The tab stays a replica, so that nothing moves while it is looked at.
    const perch = parts.use(await startPerch({ host: 'headless' }));
    const browser = parts.use(
      await launchBrowser({
        args: ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream', '--auto-accept-this-tab-capture'],
      }),
    );
    await browser.context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: perch.url });
    const outside = parts.use(await connectOutside(perch));
    const page = await browser.page(perch.linkUrl);
    await waitForConnection(page, 'Connected');
    await page.close();
    started = { perch, browser, outside };
  });
  afterAll(() => parts.disposeAsync());
  return {
    get at() {
      if (!started) throw new Error('it is there once the tests run');
      return started;
    },
  };
}

export async function openPage({ browser, perch }: AnnotateFixture, path: string): Promise<Page> {
  const page = await browser.page(perch.url + path);
  await waitForConnection(page, 'Connected');
  return page;
}

/** A new drawing on an empty sheet; the page shows it. */
export async function openBlankSheet(at: AnnotateFixture): Promise<Page> {
  const page = await openPage(at, '/annotate');
  await page.getByRole('button', { name: 'Blank canvas' }).click();
  await waitForTools(page);
  return page;
}

export const waitUntilSaved = (page: Page): Promise<void> => page.locator('[data-saving=saved]').waitFor();

/** The button of the toolbar whose group has a tool. */
function toolButton(page: Page, tool: StudioTool): Locator {
  return page.getByRole('toolbar', { name: 'Drawing tools' }).locator(`[data-tools~="${tool}"]`);
}

function findTool(name: string): StudioTool {
  const tool = STUDIO_TOOLS.find((each) => TOOL_NAMES[each].name === name);
  if (!tool) throw new Error(`no tool is named ${name}`);
  return tool;
}

/** Waits for the toolbar of an open drawing. */
export const waitForTools = (page: Page): Promise<void> => toolButton(page, 'select').waitFor();

/** Whether a tool is the current one. */
export const isToolChosen = async (page: Page, name: string): Promise<boolean> =>
  (await toolButton(page, findTool(name))
    .and(page.locator(`[aria-label="${name}"][aria-pressed=true]`))
    .count()) === 1;

/** Chooses a tool in the toolbar, from the menu of its group if the group shows another one. */
export async function chooseTool(page: Page, name: string): Promise<void> {
  if (await isToolChosen(page, name)) return;
  const button = toolButton(page, findTool(name));
  await button.waitFor();
  if ((await button.getAttribute('aria-label')) === name) await button.click();
  else {
    await button.press('ArrowDown');
    await page.getByRole('menuitem', { name, exact: true }).click();
  }
  await waitFor(() => isToolChosen(page, name), `the tool ${name}`);
}

/** Opens what the style panel folds: width, text size, fill and opacity. */
export async function openStyle(page: Page): Promise<Locator> {
  const dialog = page.getByRole('dialog', { name: 'More style options' });
  if (!(await dialog.isVisible())) await page.getByRole('button', { name: 'More style options' }).click();
  return dialog;
}
export const surface = (page: Page): Locator => page.getByRole('application', { name: 'Drawing' });
export const titleField = (page: Page): Locator => page.getByLabel('Drawing title');

/** A place of the page, by shares of what is seen of the drawing between the panels. */
export async function toPagePoint(page: Page, [x, y]: readonly [number, number]): Promise<{ x: number; y: number }> {
  const box = await surface(page).boundingBox();
  if (!box) throw new Error('the drawing is not in sight');
  const right = box.x + box.width - 16;
  const [left, top, bottom] = [box.x + 84, box.y + 74, box.y + box.height - 70];
  return { x: left + x * (right - left), y: top + y * (bottom - top) };
}

/** Presses on the drawing and drags, without letting go; from and to shares of what is seen of it. */
export async function beginDrag(
  page: Page,
  from: readonly [number, number],
  to: readonly [number, number],
  button: 'left' | 'middle' = 'left',
): Promise<void> {
  const [first, last] = [await toPagePoint(page, from), await toPagePoint(page, to)];
  await page.mouse.move(first.x, first.y);
  await page.mouse.down({ button });
  await page.mouse.move(last.x, last.y, { steps: 8 });
}

export async function drag(page: Page, from: readonly [number, number], to: readonly [number, number]): Promise<void> {
  await beginDrag(page, from, to);
  await page.mouse.up();
}

export async function pressAt(
  page: Page,
  point: readonly [number, number],
  options: Parameters<Page['mouse']['click']>[2] = {},
): Promise<void> {
  const { x, y } = await toPagePoint(page, point);
  await page.mouse.click(x, y, options);
}

/** Opens the panel if it is closed, and shows a part of it: a browser remembers both. */
export async function openPanel(page: Page, part: 'Layers' | 'Notes' | 'Library'): Promise<void> {
  const toggle = page.getByRole('button', { name: 'Layers and notes' });
  if ((await toggle.getAttribute('aria-pressed')) !== 'true') await toggle.click();
  await page.getByRole('button', { name: part, exact: true }).click();
}

export const getLayerList = (page: Page): Locator => page.getByRole('list', { name: 'Layers, top to bottom' });
export const layer = (page: Page, name: string): Locator => getLayerList(page).getByRole('button', { name, exact: true });

export const getDrawingId = (page: Page): string => new URL(page.url()).pathname.split('/').at(-1) ?? '';

/** The gateway's changes of the drawing that a page shows. */
export async function getChanges({ outside }: AnnotateFixture, page: Page): Promise<Change[]> {
  return (await outside.client.call('drawings.open', { drawingId: getDrawingId(page) })).changes;
}

/** The kinds of what the gateway has of it. */
export const getShapeKinds = async (at: AnnotateFixture, page: Page): Promise<string[]> =>
  (await getChanges(at, page)).flatMap(({ set }) => (set.kind && set.kind !== 'page' ? [set.kind] : []));

/** Exports a drawing. */
export async function exportDrawing(page: Page, name: string): Promise<{ name: string; bytes: Buffer }> {
  await page.getByRole('button', { name: 'Export' }).click();
  const [got] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name, exact: true }).click()]);
  return { name: got.suggestedFilename(), bytes: readFileSync(await got.path()) };
}
