import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { startAnthropicServer } from '../support/anthropic-server.ts';
import { startUpstream, type Upstream, UPSTREAM_TEXT } from '../test-upstream.ts';
import { launchBrowser, type TestBrowser } from './test-browser.ts';
import { waitForConnection, LINKED_STATUS, openLinkedPage } from './connection-status.ts';
import { type Perch, startPerch } from './perch-process.ts';
import { addProvider, connectOutside } from './outside-client.ts';

const composer = (page: Page) => page.getByRole('textbox', { name: 'Message' });
const replies = (page: Page) => page.getByRole('article', { name: 'Reply' });
const stop = (page: Page) => page.getByRole('button', { name: 'Stop' });

async function sendMessage(page: Page, text: string): Promise<void> {
  await composer(page).fill(text);
  await composer(page).press('Enter');
}

const text = UPSTREAM_TEXT.join('');

describe('behind the bridge', () => {
  let perch: Perch;
  let browser: TestBrowser;
  let upstream: Upstream;
  beforeAll(async () => {
    upstream = await startUpstream({ models: ['normal', 'slow-300', 'stall', 'endless'], apiKey: 'sk-app' });
    perch = await startPerch();
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await perch?.[Symbol.asyncDispose]();
    await upstream?.close();
  });

  verifies('app/first-answer', 'the printed link, a question, an answer', async () => {
    const page = await openLinkedPage(browser, perch);
    expect(page.url()).toBe(`${perch.url}/`);
    await sendMessage(page, 'How do I add a model?');
    await replies(page).getByText('Settings').first().waitFor();
    // Its code is spent: another browser gets nothing for it.
    const response = await fetch(`${perch.url}/link`, {
      method: 'POST',
      headers: { origin: perch.url, 'content-type': 'application/json' },
      body: JSON.stringify({ code: new URLSearchParams(new URL(perch.linkUrl).hash.slice(1)).get('link') }),
    });
    expect(response.ok).toBe(false);
    await using other = await launchBrowser();
    const late = await other.page(perch.linkUrl);
    await late.getByText('This link has already been used or has expired').waitFor();
    await page.close();
  });

  // The page would loop or stay empty if the build gave SvelteKit's client its address too late.
  test('an address that is no page says so, and leads back', async () => {
    const page = await browser.page(`${perch.url}/no/such/page`);
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await page.getByRole('link', { name: 'Back to chats' }).click();
    await composer(page).waitFor();
    // The bridge refuses addresses of these kinds; once the service worker answers they come to the app.
    await page.evaluate(async () => void (await navigator.serviceWorker.ready));
    for (const path of ['/%E0%A4%A', '/chat/main/%FF']) {
      await page.goto(perch.url + path);
      await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    }
    for (const path of ['/chat/main/%00', '/chat/..%2f/main']) {
      await page.goto(perch.url + path);
      await page.getByRole('heading', { name: 'Chat not found' }).waitFor();
    }
    await page.close();
  });

  verifies('app/provider-settings', 'a base URL and a key, tested, made the default, and used', async () => {
    const page = await browser.page(`${perch.url}/models`);
    await waitForConnection(page, LINKED_STATUS);
    await page.getByRole('button', { name: 'Add provider' }).click();
    await page.getByLabel('Base URL').fill(upstream.url);
    await page.getByRole('textbox', { name: /^Name/ }).fill('Bench');
    await page.getByRole('textbox', { name: /^API key/ }).fill('sk-app');
    await page.getByRole('button', { name: 'Save and test' }).click();
    await page.getByText('normal').filter({ visible: true }).first().waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Make default' }).first().click();
    await page.goto(`${perch.url}/`);
    await waitForConnection(page, LINKED_STATUS);
    await sendMessage(page, 'hi there');
    await replies(page).getByText(text).waitFor();
    await page.close();
  });

  test('the chat of an agent with a model of its own is headed by that', async () => {
    using outside = await connectOutside(perch);
    await addProvider(outside.client, upstream.url, 'sk-app');
    await outside.client.call('config.patch', {
      patch: { chat: { model: 'local/endless' }, agents: { helper: { model: 'local/normal' } } },
    });
    await outside.client.call('chat.send', { message: 'hi', agentId: 'helper', sessionId: 'helped' });
    const page = await browser.page(`${perch.url}/chat/helper/helped`);
    await waitForConnection(page, LINKED_STATUS);
    const picker = page.getByTitle('Choose a model');
    await picker.getByText('normal').waitFor();
    await outside.client.call('config.patch', { patch: { agents: { helper: { model: null } } } });
    await picker.getByText('endless').waitFor();
    await page.close();
  });

  verifies('app/provider-settings', 'a provider by its kind, which the worker learns to speak to when it is asked', async () => {
    await using anthropic = await startAnthropicServer('sk-ant-app', 'Hello from Claude');
    const page = await browser.page(`${perch.url}/models`);
    await waitForConnection(page, LINKED_STATUS);
    await page.getByRole('button', { name: 'Add provider' }).click();
    await page.getByLabel('Provider', { exact: true }).selectOption({ label: 'Anthropic' });
    await page.getByLabel('Base URL').fill(anthropic.url);
    await page.getByRole('textbox', { name: /^API key/ }).fill('sk-wrong');
    await page.getByRole('button', { name: 'Save and test' }).click();
    await page.getByText('invalid x-api-key').first().waitFor();
    await page.getByRole('textbox', { name: /^API key/ }).fill('sk-ant-app');
    await page.getByRole('button', { name: 'Save and test' }).click();
    await page.getByText('Connected to Anthropic. 1 model found.').waitFor();
    await page.getByRole('button', { name: 'Make default', exact: true }).click();
    await page.goto(`${perch.url}/`);
    await waitForConnection(page, LINKED_STATUS);
    await sendMessage(page, 'hi there');
    await replies(page).getByText('Hello from Claude').waitFor();
    await page.close();
  });

  verifies(['app/streams-and-stops', 'app/reload'], 'Stop keeps the partial reply, also after a reload', async () => {
    using outside = await connectOutside(perch);
    await addProvider(outside.client, upstream.url, 'sk-app');
    await outside.client.call('config.set', { key: 'chat.model', value: 'local/endless' });
    const page = await browser.page(perch.url);
    await waitForConnection(page, LINKED_STATUS);
    await sendMessage(page, 'go on for ever');
    await replies(page).getByText(/\w{3}/).first().waitFor();
    await page.reload();
    // The run goes on, and the page joins it.
    await stop(page).waitFor();
    const before = (await replies(page).innerText()).length;
    await waitFor(async () => (await replies(page).innerText()).length > before + 20, 'more text after the reload');
    await stop(page).click();
    await stop(page).waitFor({ state: 'detached' });
    await page
      .getByText(/stopped/i)
      .first()
      .waitFor();
    const replyText = await replies(page).innerText();
    await page.reload();
    await page
      .getByText(/stopped/i)
      .first()
      .waitFor();
    expect((await replies(page).innerText()).slice(0, 200)).toBe(replyText.slice(0, 200));
    const request = upstream.requests.findLast(({ path }) => path.endsWith('/chat/completions'));
    await request?.closed;
    expect(request?.hungUp).toBe(true);
    await page.close();
  });

  verifies('app/two-tabs', 'a second tab sees the question, the text, the end, a new name and a deletion', async () => {
    const one = await browser.page(perch.url);
    await waitForConnection(one, 'This browser');
    using outside = await connectOutside(perch);
    await outside.client.call('config.set', { key: 'chat.model', value: 'local/slow-300' });
    await sendMessage(one, 'shared question');
    await one.waitForURL(/\/chat\//);
    const two = await browser.page(one.url());
    await two.getByText('shared question').first().waitFor();
    await replies(two).getByText(text).waitFor();
    await sendMessage(two, 'from the second');
    await one.getByText('from the second').first().waitFor();
    await waitFor(async () => (await replies(one).count()) === 2 && (await replies(one).last().innerText()).includes(text));
    const sessionId = one.url().split('/').at(-1) ?? '';
    await outside.client.call('sessions.rename', { path: `main/${sessionId}.jsonl`, title: 'A new name' });
    await one.getByText('A new name').first().waitFor();
    await two.getByText('A new name').first().waitFor();
    await outside.client.call('sessions.delete', { path: `main/${sessionId}.jsonl` });
    await one.getByText('A new name').first().waitFor({ state: 'detached' });
    await one.close();
    await two.close();
  });

  verifies('app/no-foreign-request', 'hostile model output is shown, asks nobody, and runs nothing', async () => {
    const hostile = [
      '<script>window.hacked=1</script><img src="http://203.0.113.1/beacon.png" onerror="window.hacked=1">',
      '![x](http://203.0.113.1/beacon2.png)',
      '[click](javascript:window.hacked=1) <a href="javascript:window.hacked=1">b</a>',
      '<iframe src="http://203.0.113.1/"></iframe><svg onload="window.hacked=1"><style>@import "http://203.0.113.1/x.css"</style></svg>',
      '<form action="http://203.0.113.1/"><button>send</button></form><b style="background:url(http://203.0.113.1/y)">bold</b>',
      'the end',
    ].join('\n\n');
    const server = createServer((request, response) => {
      if (request.url?.endsWith('/models'))
        return response.end(JSON.stringify({ object: 'list', data: [{ id: 'hostile', object: 'model' }] }));
      response.setHeader('content-type', 'text/event-stream');
      const chunk = (delta: unknown, finish: string | null): string =>
        `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
      return response.end(`${chunk({ content: hostile }, null)}${chunk({}, 'stop')}data: [DONE]\n\n`);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    using outside = await connectOutside(perch);
    await addProvider(outside.client, `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/v1`);
    await outside.client.call('config.set', { key: 'chat.model', value: 'local/hostile' });
    const page = await browser.page(perch.url);
    await waitForConnection(page, LINKED_STATUS);
    browser.complaints.length = 0;
    await sendMessage(page, 'say something nasty');
    await replies(page).getByText('the end').waitFor();
    for (const link of await replies(page).getByRole('link').all()) expect(await link.getAttribute('href')).not.toMatch(/^javascript/i);
    expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
    expect(await replies(page).locator('img, iframe, form, script, style').count()).toBe(0);
    expect(browser.foreignRequests).toEqual([]);
    expect(browser.complaints).toEqual([]);
    await page.close();
    server.closeAllConnections();
    server.close();
  });

  verifies(
    ['app/offline', 'host/shared-worker'],
    'the bridge stops: the page says so and this browser answers, also after a reload',
    async () => {
      const page = await browser.page(perch.url);
      await waitForConnection(page, 'This browser');
      await page.evaluate(() => navigator.serviceWorker.ready.then(() => true));
      using outside = await connectOutside(perch);
      await outside.client.call('config.set', { key: 'chat.model', value: 'guide/guide' });
      await perch.kill('SIGTERM');
      await waitForConnection(page, /service stopped/);
      await page.goto(`${perch.url}/`);
      await waitForConnection(page, /service stopped/);
      await sendMessage(page, 'Where is my data kept?');
      await replies(page)
        .getByText(/browser/i)
        .first()
        .waitFor();
      await page.reload();
      await replies(page)
        .getByText(/browser/i)
        .first()
        .waitFor();
      await page.close();
    },
  );

  verifies('app/offline', 'a model that this browser reaches through the bridge alone: what is away is named', async () => {
    await perch.restart();
    using outside = await connectOutside(perch);
    await addProvider(outside.client, upstream.url, 'sk-app');
    await outside.client.call('config.set', { key: 'chat.model', value: 'local/normal' });
    const page = await browser.page(perch.url);
    await waitForConnection(page, LINKED_STATUS);
    await perch.kill('SIGTERM');
    await waitForConnection(page, /service stopped/);
    await sendMessage(page, 'hi there');
    await page.getByText('Couldn’t reach Local').filter({ hasText: 'Perch on your computer is not running' }).first().waitFor();
    await page.close();
  });
});

describe('this browser alone', () => {
  verifies('app/accessible', 'replies of the same words are told to a screen reader each time', async () => {
    await using perch = await startPerch({ host: 'tab' });
    await using browser = await launchBrowser();
    const page = await browser.page(perch.url);
    await waitForConnection(page, 'This browser');
    const announcementsHandle = await page.evaluateHandle(() => {
      const announcements: string[] = [];
      for (const region of document.querySelectorAll('.sr-only[aria-live=polite]'))
        new MutationObserver(() => announcements.push(region.textContent)).observe(region, {
          subtree: true,
          childList: true,
          characterData: true,
        });
      return announcements;
    });
    const countAnnouncements = (): Promise<number> => announcementsHandle.evaluate((texts) => texts.filter((text) => text !== '').length);
    for (const times of [1, 2, 3]) {
      await sendMessage(page, 'What can you do?');
      await waitFor(async () => (await countAnnouncements()) === times, `the reply to be told ${times} times`);
    }
  });

  test('a chat that cannot be read says so, with a way to try again', async () => {
    await using perch = await startPerch({ host: 'tab' });
    await using browser = await launchBrowser();
    const page = await browser.page();
    await page.addInitScript(() => {
      const { postMessage } = MessagePort.prototype;
      let refusing = true;
      addEventListener('readable', () => (refusing = false));
      MessagePort.prototype.postMessage = function (message: unknown, given?: StructuredSerializeOptions | Transferable[]) {
        const serialized = JSON.stringify(message) ?? '';
        const sent: unknown =
          refusing && serialized.includes('chat.history') ? JSON.parse(serialized.replace('chat.history', 'chat.no-such')) : message;
        postMessage.call(this, sent, Array.isArray(given) ? { transfer: given } : given);
      };
    });
    await page.goto(`${perch.url}/chat/main/main`);
    const note = page.getByRole('main').getByRole('alert');
    await note.getByText('METHOD_NOT_FOUND').waitFor({ state: 'attached' });
    await page.evaluate(() => dispatchEvent(new Event('readable')));
    await note.getByRole('button', { name: 'Retry' }).click();
    await page.getByRole('heading', { name: 'Chat not found' }).waitFor();
  });

  verifies(
    ['host/shared-worker', 'host/death-noticed', 'host/killed-mid-run', 'storage/acknowledged-is-durable'],
    'unlinked, it answers; a killed worker is replaced and the partial reply kept',
    async () => {
      await using upstream = await startUpstream();
      await using perch = await startPerch({ host: 'tab' });
      await using browser = await launchBrowser();
      const page = await browser.page(perch.url);
      await waitForConnection(page, 'This browser');
      await sendMessage(page, 'What can you do?');
      await replies(page).first().waitFor();
      await waitFor(async () => (await stop(page).count()) === 0);
      await page.goto(perch.linkUrl);
      await waitFor(async () => (await perch.fetch('/v1/models')).ok, 'the tab to serve');
      using outside = await connectOutside(perch);
      await addProvider(outside.client, upstream.url);
      await outside.client.call('config.set', { key: 'chat.model', value: 'local/endless' });
      await sendMessage(page, 'go on');
      // A delta a millisecond or so: the text so far has been saved by then.
      await waitFor(async () => (await replies(page).innerText()).length > 8000, 'a good deal of text', 20_000);
      expect(await browser.killSharedWorkers(perch.url)).toBe(1);
      await page
        .getByText(/Interrupted/)
        .first()
        .waitFor();
      expect((await replies(page).innerText()).length).toBeGreaterThan(1000);
      await waitForConnection(page, 'This browser');
      await waitFor(async () => (await perch.fetch('/v1/models')).ok, 'the new worker to serve');
      const { sessions } = await (await connectOutside(perch)).client.call('sessions.list', {});
      expect(sessions[0]).toMatchObject({ messageCount: 2 });
    },
  );

  verifies('host/dedicated-worker', 'without SharedWorker two tabs share one gateway, and the second takes over', async () => {
    await using perch = await startPerch({ host: 'tab' });
    await using browser = await launchBrowser();
    await browser.context.addInitScript(() => Reflect.deleteProperty(globalThis, 'SharedWorker'));
    const one = await browser.page(perch.url);
    await waitForConnection(one, 'This browser');
    await sendMessage(one, 'What can you do?');
    await one.waitForURL(/\/chat\//);
    const two = await browser.page(one.url());
    await waitForConnection(two, 'This browser');
    await two.getByText('What can you do?').first().waitFor();
    await sendMessage(two, 'Where is my data kept?');
    await one.getByText('Where is my data kept?').first().waitFor();
    await waitFor(async () => (await replies(one).count()) === 2 && (await stop(one).count()) === 0);
    // A worker may outlive its page for a moment, and a reply begun by it would be cut short with it.
    const owner = (): Promise<string | undefined> =>
      two.evaluate(async () => (await navigator.locks.query()).held?.find(({ name }) => name === 'perch-gateway')?.clientId);
    const first = await owner();
    await one.close();
    await waitFor(async () => ![undefined, first].includes(await owner()), 'the second tab’s worker to take over');
    await sendMessage(two, 'How do I add a model?');
    await waitFor(async () => (await replies(two).count()) === 3);
    await replies(two)
      .last()
      .getByText(/Settings/)
      .first()
      .waitFor();
  });
});

verifies(
  ['host/uplink', 'host/last-tab-closed'],
  'with --host tab the open tab serves programs; without one they are told at once',
  async () => {
    await using perch = await startPerch({ host: 'tab' });
    await using browser = await launchBrowser();
    expect((await perch.fetch('/v1/models')).status).toBe(503);
    const page = await browser.page(perch.linkUrl);
    await waitForConnection(page, 'This browser');
    await waitFor(async () => (await perch.fetch('/v1/models')).ok, 'the tab to serve');
    const outside = await connectOutside(perch);
    const done = await outside.client.call('chat.send', { message: 'What can you do?', sessionId: 'from-outside' });
    expect(done.completed).toBe(true);
    await page.getByText('What can you do?').first().waitFor();
    await perch.kill('SIGKILL');
    await perch.restart();
    await waitFor(async () => (await perch.fetch('/v1/models')).ok, 'the worker to dial again');
    await browser.context.close();
    await waitFor(async () => (await perch.fetch('/v1/models')).status === 503, 'the loss of the last tab to show');
  },
  90_000,
);

test('a bridge that knows this browser no longer is not called away where it runs', async () => {
  await using perch = await startPerch();
  await using browser = await launchBrowser();
  const page = await openLinkedPage(browser, perch);
  await perch.kill('SIGTERM');
  rmSync(join(perch.home, 'credentials.json'));
  await perch.restart();
  await page.goto(`${perch.url}/devices`);
  for (const section of ['#state', '#connection'])
    await page.locator(section).getByText('This browser is no longer paired with Perch on your computer.').waitFor();
  expect(await page.getByText('Perch isn’t running on your computer. Changes are saved').count()).toBe(0);
});
