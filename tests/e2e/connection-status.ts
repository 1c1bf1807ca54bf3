import type { Page } from 'playwright';
import { waitFor } from '../support/test-gateway.ts';
import type { TestBrowser } from './test-browser.ts';
import type { Perch } from './perch-process.ts';

const pill = (page: Page) => page.getByRole('button', { name: /^Connection: / }).first();

/** Linked, with the bridge there, and settled: another host answers at first, and what is under way when the tab's own takes over is cut off. */
export const LINKED_STATUS = 'This browser';

/** The pill says so: `Connected`, `This browser`, … */
export async function waitForConnection(page: Page, status: string | RegExp): Promise<void> {
  await pill(page).filter({ visible: true }).waitFor();
  await waitFor(async () => {
    const label = (await pill(page).getAttribute('aria-label')) ?? '';
    return typeof status === 'string' ? label === `Connection: ${status}` : status.test(label);
  }, `the pill to say ${status}`);
}

/** A page opened by the printed link, once it is connected. */
export async function openLinkedPage(browser: TestBrowser, perch: Perch): Promise<Page> {
  const page = await browser.page(perch.linkUrl);
  await waitForConnection(page, LINKED_STATUS);
  return page;
}
