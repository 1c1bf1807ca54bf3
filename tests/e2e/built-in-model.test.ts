import type { Page } from 'playwright';
import { expect } from 'vitest';
import { z } from '#shared/rpc/zod.ts';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { findLowContrast, findOverflow, waitForNoProblems } from './accessibility.ts';
import { launchBrowser, type TestBrowser } from './test-browser.ts';
import { waitForConnection, LINKED_STATUS } from './connection-status.ts';
import { type Perch, startPerch } from './perch-process.ts';
import { type ModelAvailability, installFakeLanguageModel } from './fake-language-model.ts';
import { takeScreenshots } from './take-screenshots.ts';

const KEY = 'builtin/language-model';
const completion = z.object({
  choices: z.array(z.object({ message: z.object({ content: z.string() }), finish_reason: z.string() })),
  usage: z.object({ prompt_tokens: z.number(), completion_tokens: z.number() }),
});
const listed = z.object({ data: z.array(z.object({ id: z.string() })) });

const replies = (page: Page) => page.getByRole('article', { name: 'Reply' });
const row = (page: Page) => page.getByRole('listitem', { name: 'Browser’s built-in model' });

async function createBuiltInModelFixture(brings: ModelAvailability) {
  const parts = new AsyncDisposableStack();
  const perch = parts.use(await startPerch({ host: 'tab' }));
  const browser = parts.use(await launchBrowser());
  await installFakeLanguageModel(browser.context, brings);
  const page = await browser.page(perch.linkUrl);
  await waitForConnection(page, LINKED_STATUS);
  return { perch, browser, page, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

async function hasModel(perch: Perch): Promise<boolean> {
  const answer = await perch.fetch('/v1/models');
  return answer.ok && listed.parse(await answer.json()).data.some(({ id }) => id === KEY);
}

const sendMessage = (perch: Perch, content: string, more: object = {}): Promise<Response> =>
  perch.fetch('/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: KEY, messages: [{ role: 'user', content }], ...more }),
  });

const expectNoComplaints = ({ complaints, foreignRequests }: TestBrowser): void => {
  expect(complaints).toEqual([]);
  expect(foreignRequests).toEqual([]);
};

verifies(
  ['built-in-model/answer', 'built-in-model/none'],
  'one that is here answers in chats and by /v1, while a page has it',
  async () => {
    await using at = await createBuiltInModelFixture('available');
    const { perch, browser, page } = at;
    await waitFor(() => hasModel(perch), 'the model to be listed', 20_000);
    await page.goto(`${perch.url}/models`);
    await row(page).getByText('Ready.').waitFor();
    await page.getByText('Built into this browser').first().waitFor();
    await row(page).getByRole('button', { name: 'Make default' }).click();
    await row(page).getByText('Default').waitFor();
    await takeScreenshots(page, 'built-in');
    await page.goto(perch.url);
    await waitForConnection(page, LINKED_STATUS);
    const message = page.getByRole('textbox', { name: 'Message' });
    await message.fill('hello there');
    await message.press('Enter');
    await replies(page).getByText('You said: hello there').waitFor();
    // Stop is heard.
    await message.fill('go on for ever');
    await message.press('Enter');
    await replies(page).last().getByText('and on and on').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });

    const parsedCompletion = completion.parse(await (await sendMessage(perch, 'one two three')).json());
    expect(parsedCompletion.choices).toEqual([
      expect.objectContaining({ message: expect.objectContaining({ content: 'You said: one two three' }) as unknown }),
    ]);
    expect(parsedCompletion.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 5 });
    const json = await sendMessage(perch, 'say yes', { response_format: { type: 'json_object' } });
    expect(completion.parse(await json.json()).choices[0]?.message.content).toBe('{"said": "yes"}');
    for (const [more, status] of [
      [{ temperature: 0.3 }, 200],
      [{ seed: 1 }, 200],
      [{ max_tokens: 2 }, 200],
      [{ model: 'builtin/another' }, 404],
    ] as const)
      expect((await sendMessage(perch, 'one two', more)).status, JSON.stringify(more)).toBe(status);
    const long = await sendMessage(perch, 'word '.repeat(500));
    expect([long.status, await long.text()]).toEqual([400, expect.stringContaining('the browser’s built-in model allows 400')]);
    expectNoComplaints(browser);
  },
);

verifies(
  ['built-in-model/fetch', 'built-in-model/answer'],
  'a downloadable model is downloaded at a click, cancelled, and downloaded again; then it is available',
  async () => {
    await using at = await createBuiltInModelFixture('downloadable');
    const { perch, browser, page } = at;
    expect(await hasModel(perch)).toBe(false);
    await page.goto(perch.url);
    await waitForConnection(page, LINKED_STATUS);
    await page.getByRole('button', { name: 'Download a small model' }).click();
    await page.getByRole('dialog').getByText('The browser downloads it once').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    await page.goto(`${perch.url}/models`);
    await row(page).getByRole('button', { name: 'Download' }).click();
    await row(page).getByText('The browser is downloading the model.').waitFor();
    await waitFor(async () => (await row(page).getByRole('progressbar').getAttribute('value')) === '0.4', 'its progress');
    await takeScreenshots(page, 'fetching');
    await row(page).getByRole('button', { name: 'Cancel' }).click();
    await row(page).getByText('The browser downloads it once').waitFor();
    expect(await waitForNoProblems(() => findLowContrast(page), 'contrast')).toEqual([]);
    await page.setViewportSize({ width: 320, height: 800 });
    expect(await waitForNoProblems(() => findOverflow(page), '320')).toEqual([]);
    await page.evaluate(() => localStorage.setItem('stand-in-goes-on', 'yes'));
    await row(page).getByRole('button', { name: 'Download' }).click();
    await row(page).getByText('Ready.').waitFor();
    await waitFor(() => hasModel(perch), 'the model to be listed');
    expect(completion.parse(await (await sendMessage(perch, 'at last')).json()).choices[0]?.message.content).toBe('You said: at last');
    expectNoComplaints(browser);
  },
);

verifies('built-in-model/none', 'where the browser has none nothing shows', async () => {
  await using at = await createBuiltInModelFixture('unavailable');
  const { perch, browser, page } = at;
  await page.goto(`${perch.url}/models`);
  await page.getByText('No local models yet').waitFor();
  expect(await row(page).count()).toBe(0);
  expect(await hasModel(perch)).toBe(false);
  const refused = await sendMessage(perch, 'Who is there?');
  expect(refused.status).toBeGreaterThanOrEqual(400);
  expect(await refused.text()).toContain('Open Perch in a browser with a built-in model to use it.');
  expectNoComplaints(browser);
});
