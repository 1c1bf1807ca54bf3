import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'vite';
import { afterAll, beforeAll, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { type CanvasSite, startCanvasSite } from './canvas-site.ts';
import { packPackage, findTypeErrors } from './pack-package.ts';

let packageDir: string;
let installPackage: string;
const openedPages: CanvasSite[] = [];

beforeAll(async () => {
  packageDir = mkdtempSync(join(tmpdir(), 'perch-drawing-'));
  installPackage = join(packageDir, 'node_modules/perch');
  mkdirSync(installPackage, { recursive: true });
  // Not one of its dependencies is there.
  execFileSync('tar', ['-xzf', await packPackage(packageDir), '--strip-components=1', '-C', installPackage]);
  writeFileSync(join(packageDir, 'package.json'), JSON.stringify({ name: 'elsewhere', private: true, type: 'module' }));
}, 400_000);
afterAll(async () => {
  for (const site of openedPages) await site[Symbol.asyncDispose]();
  rmSync(packageDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
});

/** Draws in a page of a site, and has a worker draw the same. */
async function drawInPage(site: CanvasSite): Promise<unknown> {
  openedPages.push(site);
  const page = await site.browser.page(site.url);
  await page.waitForFunction(() => 'ui' in globalThis);
  const seen: unknown = await page.evaluate(`(async () => {
    const panel = show(new ui.CanvasPanel(200, 100, 'white'));
    panel.canvas.drawRect(10, 10, 50, 50, 'teal');
    const here = await panel.canvas.capturePng({ scale: 2 });
    const worker = new Worker('/worker.js', { type: 'module' });
    const there = await new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(message));
      worker.postMessage(ui.drawingToJson(panel.canvas.drawing));
    });
    return [await pixels(here, [[40, 40], [150, 150]]), there.error ?? there.png.join() === here.join()];
  })()`);
  return [seen, site.browser.foreignRequests, site.browser.complaints];
}

const EXPECTED_SHAPES = [[{ size: [400, 200], colors: ['#008080ff', '#ffffffff'] }, true], [], []];

verifies('canvas.classes/package', 'in a plain page by an import map, and in a worker', async () => {
  expect(await drawInPage(await startCanvasSite(join(installPackage, 'dist/browser')))).toEqual(EXPECTED_SHAPES);
});

verifies('canvas.classes/package', 'in what a bundler makes of a page', async () => {
  const source = join(packageDir, 'site');
  cpSync(join(import.meta.dirname, 'canvas-site'), source, { recursive: true });
  await build({
    root: source,
    configFile: false,
    logLevel: 'error',
    build: { outDir: 'made', lib: { entry: 'page.js', formats: ['es'], fileName: () => 'page.js' } },
  });
  expect(readFileSync(join(source, 'made/page.js'), 'utf8')).not.toMatch(/["']perch\/ui["']/);
  expect(await drawInPage(await startCanvasSite(join(installPackage, 'dist/browser'), join(source, 'made')))).toEqual(EXPECTED_SHAPES);
});

verifies('canvas.classes/package', 'it is typed, and its licences go with it', () => {
  // Types of what it depends on for its files, which an installation has.
  symlinkSync(join(import.meta.dirname, '../../node_modules/zod'), join(packageDir, 'node_modules/zod'), 'junction');
  const lines = [
    "import { AnnotationCanvas, CanvasPanel, ClosePath, DrawableCanvas, type Drawing, FreehandCanvas, ImageCanvas, MoveTo, type Shape } from 'perch/ui';",
    'const canvas = new DrawableCanvas({ width: 10, height: 10 });',
    "export const star: Shape<'star'> = canvas.drawStar(5, 5, 4, 2, 5, 'red');",
    "export const path: Shape<'path'> = canvas.drawPath([MoveTo(1, 1), ClosePath()]);",
    'export const drawing: Drawing = canvas.drawing;',
    "export const all = [new FreehandCanvas(1, 1, 'red', 2), new ImageCanvas(new Blob(), 1, 1), new CanvasPanel({ width: 1, height: 1, canvas_bgcolor: 'red' })];",
    "new AnnotationCanvas({ image_src: 'x', width: 1, height: 1 }).currentTool = 'axe';",
  ];
  writeFileSync(join(packageDir, 'typed.ts'), `${lines.join('\n')}\n`);
  expect(findTypeErrors(packageDir, 'typed.ts', ['--module', 'esnext', '--moduleResolution', 'bundler'])).toEqual([
    expect.stringMatching(/^typed\.ts\(7,\d+\): error TS2322: Type '"axe"'/),
  ]);
  const notices = readFileSync(join(installPackage, 'dist/browser/LICENSES.md'), 'utf8');
  for (const name of ['fabric', 'perfect-freehand', 'fractional-indexing']) expect(notices).toContain(`# ${name}\n`);
});
