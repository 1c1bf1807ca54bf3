import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext, Page, Request } from 'playwright';
import { launchBrowser, type TestBrowser } from '../e2e/test-browser.ts';
import { startChild } from './child-process.ts';
import { toMaxBar, type Figure } from './figures.ts';
import { startBenchGateway } from './bench-gateway.ts';
import { measureInTurns, computeMedian, computePercentile, computeMedianRatio } from './stats.ts';

/** Time at which the page was usable: its composer accepts text, and the pill shows the active gateway. */
interface PageMarks {
  perchUsable?: number;
}

/** Time from the chat page's navigation until a message can be sent, and the bytes that it loads. */
export async function benchOpen({ quick }: { quick: boolean }): Promise<Figure[]> {
  const rounds = quick ? 5 : 20;
  await using floor = await startChild('page');
  await using perch = await startBenchGateway();
  const profile = mkdtempSync(join(tmpdir(), 'perch-bench-'));
  try {
    await using browser = await launchBrowser({ profile });
    await browser.context.addInitScript(markUsable);
    // First the app without a bridge, hosted by this browser's worker, then linked with the bridge.
    const alone = await measureFirstLoad(browser.context, perch.url);
    const own = await measureInTurns(rounds, {
      ours: () => measureOpen(browser.context, perch.url),
      empty: () => measureEmptyPage(browser.context, floor.port),
    });
    const worker = await measureWorkerBytes(browser);
    const script = alone.script + worker;
    const linked = await measureFirstLoad(browser.context, await perch.open());
    const ours = await measureInTurns(rounds, {
      ours: () => measureOpen(browser.context, perch.url),
      empty: () => measureEmptyPage(browser.context, floor.port),
    });
    return [
      ...toTimeFigures('page open to usable, warm, linked', ours),
      ...toTimeFigures('page open to usable, warm, own worker', own),
      { what: 'first open to usable, nothing cached', unit: 'ms', ours: alone.usable },
      { what: 'first load, script over the wire', unit: 'KB', ours: script / 1024, bar: toMaxBar(script / 1024, 230, 'KB') },
      { what: '  of it the worker', unit: 'KB', ours: worker / 1024 },
      { what: '  fetched by the page once it can be used', unit: 'KB', ours: alone.later / 1024 },
      { what: 'fetched again when linked', unit: 'KB', ours: linked.script / 1024 },
    ];
  } finally {
    rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }
}

function toTimeFigures(what: string, { ours, empty }: Record<'ours' | 'empty', number[]>): Figure[] {
  return [
    {
      what: `${what}, p50`,
      unit: 'ms',
      ours: computeMedian(ours),
      floor: { name: 'empty', value: computeMedian(empty) },
      ratio: computeMedianRatio(ours, empty),
      bar: toMaxBar(computeMedian(ours), 300, 'ms'),
    },
    { what: '  p90', unit: 'ms', ours: computePercentile(ours, 0.9), floor: { name: 'empty', value: computePercentile(empty, 0.9) } },
  ];
}

/** Runs in the page before its own scripts. */
function markUsable(): void {
  const checkUsable = (): void => {
    const composer = document.querySelector('#composer');
    const status = document.querySelector('[data-connection]')?.getAttribute('data-connection') ?? '';
    const online = /^(Connected|This browser)/.test(status);
    if (!(composer instanceof HTMLTextAreaElement) || composer.disabled || !online) return;
    watch.disconnect();
    (globalThis as PageMarks).perchUsable = performance.now();
  };
  const watch = new MutationObserver(checkUsable);
  watch.observe(document, { subtree: true, childList: true, attributes: true });
}

async function waitUntilUsable(page: Page): Promise<number> {
  const found = await page.waitForFunction(() => (globalThis as PageMarks).perchUsable, undefined, { polling: 20, timeout: 30_000 });
  const ms = await found.jsonValue();
  if (ms === undefined) throw new Error('the page cannot be used');
  return ms;
}

/** Measures the milliseconds from the start of navigation, in a new tab of a browser that has opened the app before. */
async function measureOpen(context: BrowserContext, url: string): Promise<number> {
  const page = await context.newPage();
  try {
    await page.goto(url);
    return await waitUntilUsable(page);
  } finally {
    await page.close();
  }
}

/** Measures an empty page up to its load event. */
async function measureEmptyPage(context: BrowserContext, port: number): Promise<number> {
  const page = await context.newPage();
  try {
    await page.goto(`http://127.0.0.1:${port}/`, { waitUntil: 'load' });
    return await page.evaluate(
      () => performance.getEntriesByType('navigation').map((entry) => (entry as PerformanceNavigationTiming).loadEventStart)[0] ?? NaN,
    );
  } finally {
    await page.close();
  }
}

/** The first visit, with the bytes of the page's scripts that came over the wire, headers too: until the page could be used, and from then on. */
async function measureFirstLoad(context: BrowserContext, url: string): Promise<{ usable: number; script: number; later: number }> {
  const page = await context.newPage();
  const requests: Request[] = [];
  const isScript = (request: Request): boolean => new URL(request.url()).pathname.endsWith('.js');
  page.on('requestfinished', (request) => {
    if (isScript(request)) requests.push(request);
  });
  await page.goto(url);
  const ms = await waitUntilUsable(page);
  const began = await page.evaluate(() => performance.timeOrigin);
  const isLater = (request: Request): boolean => isScript(request) && request.timing().startTime - began > ms;
  // Some code loads after the page is usable.
  if (!requests.some(isLater)) await page.waitForEvent('requestfinished', isLater);
  // The network is never idle for the page: Chromium does not report that the worker's script has loaded.
  for (let before = -1; before !== requests.length; await page.waitForTimeout(1_000)) before = requests.length;
  const bytes = { script: 0, later: 0 };
  for (const request of requests) {
    const { responseBodySize, responseHeadersSize } = await request.sizes();
    bytes[isLater(request) ? 'later' : 'script'] += responseBodySize + responseHeadersSize;
  }
  await page.close();
  return { usable: ms, ...bytes };
}

/** Bytes of the SharedWorker's script and its static imports, compressed as for browsers: a page can't observe its requests. */
async function measureWorkerBytes({ devtools }: TestBrowser): Promise<number> {
  const session = await devtools();
  const { targetInfos } = await session.send('Target.getTargets', { filter: [{ type: 'shared_worker' }] });
  const urls = new Set(targetInfos.map(({ url }) => url));
  if (urls.size !== 1) throw new Error(`one SharedWorker is expected: ${[...urls].join(', ')}`);
  let bytes = 0;
  for (const url of urls) {
    const response = await fetch(url, { headers: { 'accept-encoding': 'br' } });
    const text = await response.text();
    bytes += Number(response.headers.get('content-length'));
    for (const [, part = ''] of text.matchAll(/(?:from|import)\s*["'`](\.\/[^"'`]+)["'`]/g)) urls.add(new URL(part, url).href);
  }
  return bytes;
}
