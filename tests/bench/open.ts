import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright';
import { launchBrowser } from '../e2e/browser.ts';
import { startChild } from './child.ts';
import { atMost, type Figure } from './figures.ts';
import { startGateway } from './gateway.ts';
import { inTurns, median, percentile, ratioOf } from './stats.ts';

/** When the page could be used: its composer takes text, and the pill says who answers. */
interface Marks {
  perchUsable?: number;
}

/** The chat page from the start of its navigation until somebody can write and send, and what it loads. */
export async function open({ quick }: { quick: boolean }): Promise<Figure[]> {
  const rounds = quick ? 5 : 20;
  await using floor = await startChild('page');
  await using perch = await startGateway();
  const profile = mkdtempSync(join(tmpdir(), 'perch-bench-'));
  try {
    await using browser = await launchBrowser({ profile });
    await browser.context.addInitScript(markUsable);
    // First the app by itself, with the worker of this browser, then linked with the bridge.
    const alone = await firstLoad(browser.context, perch.url);
    const own = await inTurns(rounds, { ours: () => opened(browser.context, perch.url), empty: () => empty(browser.context, floor.port) });
    const linked = await firstLoad(browser.context, await perch.open());
    const ours = await inTurns(rounds, { ours: () => opened(browser.context, perch.url), empty: () => empty(browser.context, floor.port) });
    return [
      ...times('page open to usable, warm, linked', ours),
      ...times('page open to usable, warm, own worker', own),
      { what: 'first open to usable, nothing cached', unit: 'ms', ours: alone.usable },
      { what: 'first load, script of the page', unit: 'KB', ours: alone.page / 1024, bar: atMost(alone.page / 1024, 200, 'KB') },
      { what: '  with the worker', unit: 'KB', ours: (alone.page + alone.worker) / 1024 },
      { what: '  fetched again when linked', unit: 'KB', ours: linked.page / 1024 },
    ];
  } finally {
    rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }
}

function times(what: string, { ours, empty }: Record<'ours' | 'empty', number[]>): Figure[] {
  return [
    { what: `${what}, p50`, unit: 'ms', ours: median(ours), floor: { name: 'empty', value: median(empty) }, ratio: ratioOf(ours, empty), bar: atMost(median(ours), 300, 'ms') },
    { what: '  p90', unit: 'ms', ours: percentile(ours, 0.9), floor: { name: 'empty', value: percentile(empty, 0.9) } },
  ];
}

/** Runs in the page before its own scripts. */
function markUsable(): void {
  const look = (): void => {
    const composer = document.querySelector('#composer');
    const pill = document.querySelector('[aria-label^="Connection:"]');
    const online = /Bridge|This browser/.test(pill?.getAttribute('aria-label') ?? '');
    if (!(composer instanceof HTMLTextAreaElement) || composer.disabled || !online) return;
    watch.disconnect();
    (globalThis as Marks).perchUsable = performance.now();
  };
  const watch = new MutationObserver(look);
  watch.observe(document, { subtree: true, childList: true, attributes: true });
}

async function usable(page: Page): Promise<number> {
  const found = await page.waitForFunction(() => (globalThis as Marks).perchUsable, undefined, { polling: 20, timeout: 30_000 });
  const ms = await found.jsonValue();
  if (ms === undefined) throw new Error('the page cannot be used');
  return ms;
}

/** Milliseconds from the start of the navigation, in a new tab of a browser that had the app before. */
async function opened(context: BrowserContext, url: string): Promise<number> {
  const page = await context.newPage();
  try {
    await page.goto(url);
    return await usable(page);
  } finally {
    await page.close();
  }
}

/** An empty page, to its load event. */
async function empty(context: BrowserContext, port: number): Promise<number> {
  const page = await context.newPage();
  try {
    await page.goto(`http://127.0.0.1:${port}/`, { waitUntil: 'load' });
    return await page.evaluate(() => performance.getEntriesByType('navigation').map((entry) => (entry as PerformanceNavigationTiming).loadEventStart)[0] ?? NaN);
  } finally {
    await page.close();
  }
}

/** The first visit, with the bytes of script that came over the wire (headers too). */
async function firstLoad(context: BrowserContext, url: string): Promise<{ usable: number; page: number; worker: number }> {
  const page = await context.newPage();
  let [ofPage, ofWorker] = [0, 0];
  const counted: Promise<void>[] = [];
  context.on('requestfinished', (request) => {
    const { pathname } = new URL(request.url());
    if (!pathname.endsWith('.js')) return;
    const count = async (): Promise<void> => {
      const { responseBodySize, responseHeadersSize } = await request.sizes();
      if (pathname.includes('/workers/') || pathname.includes('service-worker')) ofWorker += responseBodySize + responseHeadersSize;
      else ofPage += responseBodySize + responseHeadersSize;
    };
    counted.push(count().catch(() => {}));
  });
  await page.goto(url);
  const ms = await usable(page);
  await Promise.all(counted);
  context.removeAllListeners('requestfinished');
  await page.close();
  return { usable: ms, page: ofPage, worker: ofWorker };
}
