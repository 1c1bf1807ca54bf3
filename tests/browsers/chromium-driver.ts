import { join } from 'node:path';
import { launchBrowser } from '../e2e/test-browser.ts';
import type { BrowserDriver } from './browser-driver.ts';
import { createPageDriver } from './page-driver.ts';
import { createScratchFolder } from './scratch-folder.ts';

/** Chromium, by Playwright. */
export async function launchChromium(): Promise<BrowserDriver> {
  const parts = new AsyncDisposableStack();
  const { path: downloads } = parts.use(createScratchFolder());
  const browser = parts.use(await launchBrowser());
  return {
    downloads,
    async openTab() {
      const page = await browser.page();
      page.on('download', (download) => void download.saveAs(join(downloads, download.suggestedFilename())).catch(() => {}));
      return createPageDriver(page);
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}
