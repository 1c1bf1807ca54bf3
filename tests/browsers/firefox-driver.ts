import { launch } from 'puppeteer-core';
import type { BrowserDriver } from './browser-driver.ts';
import { findProgram } from './find-program.ts';
import { createPageDriver } from './page-driver.ts';
import { createScratchFolder } from './scratch-folder.ts';

/** Path of Firefox; undefined if it is not installed. */
export const FIREFOX = findProgram('firefox-esr') ?? findProgram('firefox');

/** Saves downloads in the folder `browser.download.dir` without asking. */
const CUSTOM_DOWNLOAD_FOLDER = 2;

/** Stock Firefox, by WebDriver BiDi (https://w3c.github.io/webdriver-bidi/). */
export async function launchFirefox(executablePath: string): Promise<BrowserDriver> {
  const parts = new AsyncDisposableStack();
  const { path: downloads } = parts.use(createScratchFolder());
  const browser = await launch({
    browser: 'firefox',
    executablePath,
    headless: true,
    defaultViewport: { width: 1280, height: 800 },
    extraPrefsFirefox: { 'browser.download.folderList': CUSTOM_DOWNLOAD_FOLDER, 'browser.download.dir': downloads },
  });
  parts.defer(() => browser.close());
  return {
    downloads,
    openTab: async () => createPageDriver(await browser.newPage()),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}
