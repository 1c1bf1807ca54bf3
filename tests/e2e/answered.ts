import type { Page } from 'playwright';
import { afterAll, beforeAll } from 'vitest';
import { launchBrowser, type TestBrowser } from './browser.ts';
import { connected, LINKED, linkedPage } from './connected.ts';
import { type Perch, type PerchOptions, startPerch } from './harness.ts';
import { addProvider, connectOutside } from './outside.ts';
import { startToldModel, type ToldModel } from './told-model.ts';

export const replies = (page: Page) => page.getByRole('article', { name: 'Reply' });
export const fenced = (language: string, code: string): string => `\`\`\`${language}\n${code}\n\`\`\``;

export async function ask(page: Page, words = 'Show me'): Promise<void> {
  const composer = page.getByRole('textbox', { name: 'Message' });
  await composer.fill(words);
  await composer.press('Enter');
}

export interface Answered {
  readonly perch: Perch;
  readonly browser: TestBrowser;
  readonly model: ToldModel;
  /** A page with a new chat, which has got this answer. */
  page(answer: string, viewport?: { width: number; height: number }): Promise<Page>;
}

/**
 * A gateway with a scripted model, and a linked browser, for all tests of a `describe`. `listed`: the model server's description of the
 * model; `options`: how the gateway is started.
 */
export function answered(browserArgs: readonly string[] = [], listed: object = {}, options: PerchOptions = {}): Answered {
  const parts = new AsyncDisposableStack();
  const made = {} as { perch: Perch; browser: TestBrowser; model: ToldModel };
  beforeAll(async () => {
    made.model = parts.use(await startToldModel(listed));
    made.perch = parts.use(await startPerch(options));
    made.browser = parts.use(await launchBrowser({ args: browserArgs }));
    using outside = await connectOutside(made.perch);
    await addProvider(outside.client, made.model.url);
    await outside.client.call('config.set', { key: 'chat.model', value: 'local/told' });
    await (await linkedPage(made.browser, made.perch)).close();
  });
  afterAll(() => parts.disposeAsync());
  return {
    get perch() {
      return made.perch;
    },
    get browser() {
      return made.browser;
    },
    get model() {
      return made.model;
    },
    async page(answer, viewport = { width: 1280, height: 800 }) {
      made.model.answer(`${answer}\n\nThe end.`);
      const page = await made.browser.page();
      await page.setViewportSize(viewport);
      await page.goto(made.perch.url);
      await connected(page, LINKED);
      made.browser.complaints.length = 0;
      await ask(page);
      await replies(page).getByText('The end.').waitFor();
      return page;
    },
  };
}
