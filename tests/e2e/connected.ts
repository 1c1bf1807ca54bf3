import type { Page } from 'playwright';
import { until } from '../support/gateway.ts';
import type { TestBrowser } from './browser.ts';
import type { Perch } from './harness.ts';

const pill = (page: Page) => page.getByRole('button', { name: /^Connection: / }).first();

/** Linked, with the bridge there, and settled: another host answers at first, and what is under way when the tab's own takes over is cut off. */
export const LINKED = 'This browser';

/** The pill says so: `Connected`, `This browser`, … */
export async function connected(page: Page, words: string | RegExp): Promise<void> {
  await pill(page).filter({ visible: true }).waitFor();
  await until(async () => {
    const label = (await pill(page).getAttribute('aria-label')) ?? '';
    return typeof words === 'string' ? label === `Connection: ${words}` : words.test(label);
  }, `the pill to say ${words}`);
}

/** A page opened by the printed link, once it is connected. */
export async function linkedPage(browser: TestBrowser, perch: Perch): Promise<Page> {
  const page = await browser.page(perch.linkUrl);
  await connected(page, LINKED);
  return page;
}
