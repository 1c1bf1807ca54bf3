import type { Page } from 'playwright';
import { launchBrowser } from '../e2e/test-browser.ts';
import { SocketCaller } from './caller.ts';
import { startChild } from './child-process.ts';
import { toMaxBar, type Figure } from './figures.ts';
import { startBenchGateway } from './bench-gateway.ts';
import { measurePageMemory } from './page-memory.ts';
import { computeMedian } from './stats.ts';

const LONG_TASK_MS = 50;
const TOKEN_COUNT = 2000;

interface PageMarks {
  longTasks?: number[];
}

/** A long chat: time until it is on screen, and frame times while a quick model writes. Then many chats, and the page's memory after them. */
export async function benchChat({ quick }: { quick: boolean }): Promise<Figure[]> {
  const messages = quick ? 1000 : 10_000;
  await using writer = await startChild('writer');
  await using perch = await startBenchGateway({ upstream: `http://127.0.0.1:${writer.port}/v1` });
  await using browser = await launchBrowser();
  using caller = await SocketCaller.connect(perch.wsUrl, perch.token);
  for (let sent = 0; sent < messages / 2; sent += 50) {
    // In one chain, as the gateway stores them; 50 at a time, so that the queue never runs empty.
    await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        caller.call('chat.send', { message: `Question ${sent + i}`, sessionId: 'long', model: 'bench/short' }),
      ),
    );
  }
  const page = await browser.page(perch.linkUrl);
  await page.locator('a[href="/chat/main/long"]').waitFor();
  // Until then, the app's files are being cached for offline use, once per browser profile.
  await page.evaluate(() => navigator.serviceWorker.ready);
  const opened: number[] = [];
  for (let round = 0; round < (quick ? 3 : 9); round++) {
    await page.evaluate(() => document.querySelector<HTMLAnchorElement>('a[href="/"]')?.click());
    await page.waitForURL(`${perch.url}/`);
    opened.push(await openLongChat(page));
  }
  // Lets garbage of nine openings be collected, as while a person types.
  await new Promise((resolve) => setTimeout(resolve, 3000));
  await page.evaluate(() => {
    const marks = globalThis as PageMarks;
    marks.longTasks = [];
    new PerformanceObserver((list) => marks.longTasks?.push(...list.getEntries().map(({ duration }) => duration))).observe({
      entryTypes: ['longtask'],
    });
  });
  await caller.call('chat.send', { message: 'Write', sessionId: 'long', model: `bench/writer-${quick ? TOKEN_COUNT / 4 : TOKEN_COUNT}` });
  const longest = await page.evaluate(() => Math.max(0, ...((globalThis as PageMarks).longTasks ?? [])));
  const memory = await measurePageMemory(page, caller);
  return [
    {
      what: `a chat of ${messages.toLocaleString('en')} messages, opened, p50`,
      unit: 'ms',
      ours: computeMedian(opened),
      bar: toMaxBar(computeMedian(opened), 200, 'ms'),
    },
    { what: '200 tokens/s into it, longest task over 50 ms', unit: 'ms', ours: longest, bar: toMaxBar(longest, LONG_TASK_MS, 'ms') },
    ...memory,
  ];
}

/** Measures the milliseconds from the click on the chat to its last reply on screen. */
function openLongChat(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      new Promise<number>((resolve, reject) => {
        const link = document.querySelector<HTMLAnchorElement>('a[href="/chat/main/long"]');
        if (!link) return reject(new Error('the long chat is not in the list'));
        const since = performance.now();
        const checkReply = (): void => {
          if (document.querySelectorAll('article[aria-label="Reply"]').length > 0)
            requestAnimationFrame(() => resolve(performance.now() - since));
          else requestAnimationFrame(checkReply);
        };
        link.click();
        checkReply();
      }),
  );
}
