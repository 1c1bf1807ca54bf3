import type { Page } from 'playwright';
import { afterAll, beforeAll } from 'vitest';
import { launchBrowser, type TestBrowser } from './test-browser.ts';
import { waitForConnection, LINKED_STATUS, openLinkedPage } from './connection-status.ts';
import { type Perch, type PerchOptions, startPerch } from './perch-process.ts';
import { addProvider, connectOutside } from './outside-client.ts';
import { startScriptedModel, type ScriptedModel } from './scripted-model.ts';

export const replies = (page: Page) => page.getByRole('article', { name: 'Reply' });
export const toCodeBlock = (language: string, code: string): string => `\`\`\`${language}\n${code}\n\`\`\``;

export async function sendMessage(page: Page, text = 'Show me'): Promise<void> {
  const composer = page.getByRole('textbox', { name: 'Message' });
  await composer.fill(text);
  await composer.press('Enter');
}

export interface ReplyFixture {
  readonly perch: Perch;
  readonly browser: TestBrowser;
  readonly model: ScriptedModel;
  /** A page with a new chat, which has got this answer. */
  page(answer: string, viewport?: { width: number; height: number }): Promise<Page>;
}

/**
 * A gateway with a scripted model, and a linked browser, for all tests of a `describe`. `listed`: the model server's description of the
 * model; `options`: how the gateway is started.
 */
export function useReplyFixture(browserArgs: readonly string[] = [], listed: object = {}, options: PerchOptions = {}): ReplyFixture {
  const parts = new AsyncDisposableStack();
  const started = {} as { perch: Perch; browser: TestBrowser; model: ScriptedModel };
  beforeAll(async () => {
    started.model = parts.use(await startScriptedModel(listed));
    started.perch = parts.use(await startPerch(options));
    started.browser = parts.use(await launchBrowser({ args: browserArgs }));
    using outside = await connectOutside(started.perch);
    await addProvider(outside.client, started.model.url);
    await outside.client.call('config.set', { key: 'chat.model', value: 'local/told' });
    await (await openLinkedPage(started.browser, started.perch)).close();
  });
  afterAll(() => parts.disposeAsync());
  return {
    get perch() {
      return started.perch;
    },
    get browser() {
      return started.browser;
    },
    get model() {
      return started.model;
    },
    async page(answer, viewport = { width: 1280, height: 800 }) {
      started.model.queueReply(`${answer}\n\nThe end.`);
      const page = await started.browser.page();
      await page.setViewportSize(viewport);
      await page.goto(started.perch.url);
      await waitForConnection(page, LINKED_STATUS);
      started.browser.complaints.length = 0;
      await sendMessage(page);
      await replies(page).getByText('The end.').waitFor();
      return page;
    },
  };
}
