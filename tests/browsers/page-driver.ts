import type { Point, TabDriver } from './browser-driver.ts';

/** The part of a page that Playwright and Puppeteer have in common. */
interface AutomatedPage {
  goto(url: string): Promise<unknown>;
  reload(): Promise<unknown>;
  evaluate(expression: string): Promise<unknown>;
  mouse: {
    move(x: number, y: number, options?: { steps?: number }): Promise<void>;
    down(): Promise<void>;
    up(): Promise<void>;
  };
  keyboard: { type(text: string): Promise<void>; press(key: 'Enter'): Promise<void> };
  close(): Promise<void>;
}

const STEPS = 4;

/** Drives a page of Playwright or Puppeteer. */
export const createPageDriver = (page: AutomatedPage): TabDriver => ({
  goto: async (url) => void (await page.goto(url)),
  reload: async () => void (await page.reload()),
  evaluate: (expression) => page.evaluate(expression),
  async drag([first, ...others]: readonly Point[]) {
    if (!first) return;
    await page.mouse.move(first.x, first.y);
    await page.mouse.down();
    for (const { x, y } of others) await page.mouse.move(x, y, { steps: STEPS });
    await page.mouse.up();
  },
  type: (text) => page.keyboard.type(text),
  pressEnter: () => page.keyboard.press('Enter'),
  close: () => page.close(),
});
