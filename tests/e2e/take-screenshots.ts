import type { Page } from 'playwright';

/** Screenshots of the page at four widths, light and dark, if `PERCH_SHOT` sets their names. */
export async function takeScreenshots(page: Page, name: string): Promise<void> {
  if (!process.env.PERCH_SHOT) return;
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme });
    for (const width of [360, 768, 1280, 1920]) {
      await page.setViewportSize({ width, height: width === 1920 ? 1080 : 900 });
      await page.screenshot({ path: `${process.env.PERCH_SHOT}-${name}-${theme}-${width}.png` });
    }
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1280, height: 800 });
}
