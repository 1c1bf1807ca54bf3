import type { Page } from 'playwright';
import { waitFor } from '../support/test-gateway.ts';
import type { TestBrowser } from './test-browser.ts';
import type { Perch } from './perch-process.ts';

/** The state in words, also where no button shows it: on a narrow screen, or without a sidebar. */
const getStatus = (page: Page): Promise<string> =>
  page.evaluate(() => document.querySelector<HTMLElement>('[data-connection]')?.dataset['connection'] ?? '');

/** Linked, with the bridge there, and settled: another host answers at first, and what is under way when the tab's own takes over is cut off. */
export const LINKED_STATUS = 'This browser';

/** The app says so: `Connected`, `This browser`, … */
export async function waitForConnection(page: Page, status: string | RegExp): Promise<void> {
  await page.locator('[data-connection]').waitFor();
  await waitFor(async () => {
    const current = await getStatus(page);
    return typeof status === 'string' ? current === status : status.test(current);
  }, `the app to say ${status}`);
}

/** A tab serves programs: what they cause is heard of in the page without a change of its connection. */
export const waitForTabHost = (perch: Perch): Promise<void> =>
  waitFor(async () => {
    const health = await fetch(`${perch.url}/health`).catch(() => null);
    return health !== null && ((await health.json()) as { host: unknown }).host === 'tab';
  }, 'the tab to host');

/** A page opened by the printed link, once it is connected. */
export async function openLinkedPage(browser: TestBrowser, perch: Perch): Promise<Page> {
  const page = await browser.page(perch.linkUrl);
  await waitForConnection(page, LINKED_STATUS);
  return page;
}
