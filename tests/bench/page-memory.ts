import type { CDPSession, Page } from 'playwright';
import type { SocketCaller } from './caller.ts';
import type { Figure } from './figures.ts';

const MB = 1024 * 1024;
/** Number of chats after which memory has settled. The first ones fill the page's intended caches: sidebar, compiled code, recent chats. */
const SETTLED_AFTER_CHATS = 20;
const OPENED_CHATS = 200;
/** Maximum megabytes by which a page of 200 chats may exceed one of 20: deliberate caches, not chats. */
const MAX_GROWTH_MB = 5;

interface PageHeap {
  /** Measures the bytes of JavaScript after all garbage is collected. */
  heap: number;
  nodes: number;
  listeners: number;
}

/** Memory of a page after opening many chats in a row, compared with its settled state. */
export async function measurePageMemory(page: Page, caller: SocketCaller): Promise<Figure[]> {
  const ids = Array.from({ length: OPENED_CHATS }, (_, i) => `held-${i}`);
  for (let at = 0; at < ids.length; at += 20) await Promise.all(ids.slice(at, at + 20).map((sessionId) => fillChat(caller, sessionId)));
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable');
  const heaps: PageHeap[] = [];
  for (const [index, id] of ids.entries()) {
    await openChat(page, id);
    if ([SETTLED_AFTER_CHATS, OPENED_CHATS / 2, OPENED_CHATS].includes(index + 1)) heaps.push(await measureHeap(devtools, page));
  }
  await devtools.detach();
  const [settled, half, last] = heaps;
  if (!settled || !half || !last) throw new Error('nothing was measured');
  const name = `after ${SETTLED_AFTER_CHATS}`;
  const growth = (last.heap - settled.heap) / MB;
  return [
    {
      what: `a page's JavaScript after ${OPENED_CHATS} chats`,
      unit: 'MB',
      ours: last.heap / MB,
      floor: { name, value: settled.heap / MB },
      ratio: last.heap / settled.heap,
      bar: { text: `≤ ${MAX_GROWTH_MB} MB more`, met: growth <= MAX_GROWTH_MB },
    },
    { what: `  after ${OPENED_CHATS / 2}`, unit: 'MB', ours: half.heap / MB, floor: { name, value: settled.heap / MB } },
    { what: '  nodes', unit: '', ours: last.nodes, floor: { name, value: settled.nodes }, ratio: last.nodes / settled.nodes },
    {
      what: '  listeners',
      unit: '',
      ours: last.listeners,
      floor: { name, value: settled.listeners },
      ratio: last.listeners / settled.listeners,
    },
  ];
}

/** A chat of three short turns and one with Markdown. */
async function fillChat(caller: SocketCaller, sessionId: string): Promise<void> {
  for (const model of ['short', 'short', 'short', 'writer-60'])
    await caller.call('chat.send', { message: `Question for ${model}`, sessionId, model: `bench/${model}` });
}

/** Opens a chat by its link in the app. Resolves when the chat's last reply is shown. */
async function openChat(page: Page, id: string): Promise<void> {
  await page.evaluate((href) => {
    const link = document.createElement('a');
    link.href = href;
    document.body.append(link);
    link.click();
    link.remove();
  }, `/chat/main/${id}`);
  await page.waitForURL(`**/chat/main/${id}`);
  await page.waitForFunction(() => document.querySelectorAll('article[aria-label="Reply"]').length === 4, undefined, { polling: 'raf' });
}

async function measureHeap(devtools: CDPSession, page: Page): Promise<PageHeap> {
  // Waits for idle work; objects held only by finalizers are collected in the second pass.
  await page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve)));
  for (let time = 0; time < 3; time++) await devtools.send('HeapProfiler.collectGarbage');
  const { metrics } = await devtools.send('Performance.getMetrics');
  const value = (name: string): number => metrics.find((metric) => metric.name === name)?.value ?? NaN;
  return { heap: value('JSHeapUsedSize'), nodes: value('Nodes'), listeners: value('JSEventListeners') };
}
