import type { BrowserContext, Page } from 'playwright';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { startUpstream, type Upstream } from '../test-upstream.ts';
import { launchBrowser } from './test-browser.ts';
import { waitForConnection, waitForTabHost, LINKED_STATUS, openLinkedPage } from './connection-status.ts';
import { findFullBrowserProgram, startPerch } from './perch-process.ts';
import { addProvider, connectOutside } from './outside-client.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { takeScreenshots } from './take-screenshots.ts';

const composer = (page: Page) => page.getByRole('textbox', { name: 'Message' });

async function sendMessage(page: Page, text: string): Promise<void> {
  await composer(page).fill(text);
  await composer(page).press('Enter');
}

interface RecordedCalls {
  badges: number[];
  persists: number;
  permissionRequests: number;
}

/** Edges that a Chromium without windows does not show: the icon's number is recorded, and so are questions to the person. */
async function recordCalls(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const recorded: RecordedCalls = { badges: [], persists: 0, permissionRequests: 0 };
    Object.assign(globalThis, { recorded });
    navigator.setAppBadge = async (count = -1) => void recorded.badges.push(count);
    navigator.clearAppBadge = async () => void recorded.badges.push(0);
    const persist = navigator.storage.persist.bind(navigator.storage);
    navigator.storage.persist = () => (recorded.persists++, persist());
    const { requestPermission } = Notification;
    Notification.requestPermission = () => (recorded.permissionRequests++, requestPermission.call(Notification));
  });
}
const getRecordedCalls = (page: Page) => page.evaluate(() => (globalThis as unknown as { recorded: RecordedCalls }).recorded);

/** A headless Chromium has no hidden tabs: the visibility is simulated. */
const setVisible = (page: Page, state: 'visible' | 'hidden'): Promise<void> =>
  page.evaluate((state) => {
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => state });
    document.dispatchEvent(new Event('visibilitychange'));
  }, state);

/** Waits until there are `replies` replies, and the effects of the last one's end have run. */
async function waitForReplies(page: Page, replies: number): Promise<void> {
  await waitFor(async () => (await page.getByRole('article', { name: 'Reply' }).count()) === replies, `${replies} replies`);
  await page.getByRole('button', { name: 'Stop', exact: true }).waitFor({ state: 'detached' });
  await page.evaluate(() => navigator.locks.query());
}

/** No tab is in sight any more. */
const hideAllTabs = (page: Page): Promise<void> =>
  waitFor(async () => {
    const { held } = await page.evaluate(() => navigator.locks.query());
    return !held?.some(({ name }) => name === 'perch-seen');
  }, 'no tab to be seen');

const notifications = (page: Page): Promise<{ title: string; body: string; tag: string }[]> =>
  page.evaluate(async () =>
    (await (await navigator.serviceWorker.ready).getNotifications()).map(({ title, body, tag }) => ({
      title,
      body,
      tag: tag.replace(/:.*/, ''),
    })),
  );

/** A click on a notification, by the event that the browser sends. It may focus a window only after a real one. */
async function clickNotification(context: BrowserContext, url: string, tag: string): Promise<void> {
  const worker = context.serviceWorkers().find((each) => each.url().startsWith(url));
  await worker?.evaluate(async (tag) => {
    const scope = globalThis as unknown as { registration: ServiceWorkerRegistration; dispatchEvent(event: Event): void };
    const notification = (await scope.registration.getNotifications()).find((each) => each.tag.startsWith(tag));
    const Click = (globalThis as unknown as { NotificationEvent: new (type: string, init: object) => Event }).NotificationEvent;
    scope.dispatchEvent(new Click('notificationclick', { notification }));
  }, tag);
}

// A headless shell shows no notifications.
const executable = await findFullBrowserProgram();
if (executable === null) test.skip('app/notifies: a full Chromium is not installed here', () => {});
describe.runIf(executable !== null)('an app in the background', () => {
  const at = useGatewayAndBrowser({ executable });
  let upstream: Upstream;
  beforeAll(async () => {
    upstream = await startUpstream({ models: ['normal', 'stall'] });
    using outside = await connectOutside(at.perch);
    await addProvider(outside.client, upstream.url);
  });
  afterAll(() => upstream?.close());
  // A page that a failed test left open would host, and count as seen, in the next one.
  afterEach(() => Promise.all(at.browser.context.pages().map((page) => page.close())));

  async function open(path = '/'): Promise<Page> {
    const page = await at.browser.page();
    await recordCalls(page);
    await page.goto(at.perch.url + path);
    await waitForConnection(page, LINKED_STATUS);
    return page;
  }

  verifies(
    'app/notifies',
    'asked for by a button alone; a reply and an approval are told when no tab is seen, and a click leads there',
    async () => {
      await (await openLinkedPage(at.browser, at.perch)).close();
      const page = await open('/settings');
      const settings = page.locator('#notifications');
      await settings.getByText('Off', { exact: true }).waitFor();
      await takeScreenshots(page, 'notifications');
      expect((await getRecordedCalls(page)).permissionRequests).toBe(0);
      await at.browser.context.grantPermissions(['notifications'], { origin: at.perch.url });
      await settings.getByRole('button', { name: 'Turn on' }).click();
      await settings.getByText('On in this browser').waitFor();
      expect((await getRecordedCalls(page)).permissionRequests).toBe(1);

      // In sight: nothing is told.
      await page.getByRole('link', { name: 'New chat' }).first().click();
      await sendMessage(page, 'Where are my chats kept?');
      await waitForReplies(page, 1);
      expect(await notifications(page)).toEqual([]);

      // Another tab is in sight: nothing is told either.
      const other = await open();
      await waitForTabHost(at.perch);
      await setVisible(page, 'hidden');
      using outside = await connectOutside(at.perch);
      const sessionId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
      await outside.client.call('chat.send', { message: 'seen by another tab', sessionId });
      await waitForReplies(page, 2);
      expect(await notifications(page)).toEqual([]);

      // None is.
      await setVisible(other, 'hidden');
      await hideAllTabs(page);
      await outside.client.call('chat.send', { message: 'What can you do?', sessionId });
      await waitFor(async () => (await notifications(page)).length === 1, 'the notification');
      expect(await notifications(page)).toEqual([{ title: 'Reply ready', body: 'Where are my chats kept?', tag: 'run' }]);

      const waits = outside.client.call('chat.send', { message: '/tool exec {"command": "echo", "args": ["said"]}', sessionId: 'asks' });
      waits.catch(() => {});
      await waitFor(async () => (await notifications(page)).some(({ tag }) => tag === 'approval'), 'the approval to be told');
      expect((await notifications(page)).find(({ tag }) => tag === 'approval')).toMatchObject({ title: 'Waiting for your approval' });

      await clickNotification(at.browser.context, at.perch.url, 'approval');
      await waitFor(() => [page, other].some((each) => each.url().endsWith('/chat/main/asks')), 'the chat that asks');

      // The notification of the reply opens its chat from any page, and then disappears.
      await page.goto(`${at.perch.url}/settings`);
      await other.goto(`${at.perch.url}/usage`);
      await waitForConnection(page, LINKED_STATUS);
      await other.getByRole('heading', { level: 1 }).first().waitFor();
      await clickNotification(at.browser.context, at.perch.url, 'run');
      await waitFor(() => [page, other].some((each) => each.url().endsWith(`/chat/main/${sessionId}`)), 'the chat that was answered');
      expect((await notifications(page)).map(({ tag }) => tag)).not.toContain('run');
      for (const tab of [page, other]) await setVisible(tab, 'hidden');
      await hideAllTabs(page);
      const [approval] = (await outside.client.call('approvals.list', {})).approvals;
      await outside.client.call('approvals.resolve', { id: approval?.id ?? '', decision: 'deny' });
      await waits.catch(() => {});

      // The notification also disappears if the chat is read without a click on it.
      await waitFor(async () => (await notifications(page)).length === 1, 'the end of the chat that asked to be told');
      const reader = await open();
      expect(await notifications(reader)).toHaveLength(1);
      await reader.goto(`${at.perch.url}/chat/main/asks`);
      await waitFor(async () => (await notifications(reader)).length === 0, 'what was told to go as it is read');
      await reader.close();
      await page.close();
      await other.close();
    },
  );

  verifies('app/notifies', 'a chat that is not in the list is named as well', async () => {
    // This page's worker hosts until the end: an event during a change of hosts reaches no page.
    const host = await at.browser.page(await at.perch.open());
    await waitForConnection(host, LINKED_STATUS);
    await waitForTabHost(at.perch);
    using outside = await connectOutside(at.perch);
    await outside.client.call('chat.send', { message: 'Kept for later', sessionId: 'filed' });
    await outside.client.call('sessions.archive', { path: 'main/filed.jsonl', archived: true });
    const page = await open('/settings');
    await at.browser.context.grantPermissions(['notifications'], { origin: at.perch.url });
    const settings = page.locator('#notifications');
    const turnOn = settings.getByRole('button', { name: 'Turn on' });
    await turnOn.or(settings.getByRole('button', { name: 'Turn off' })).waitFor();
    if (await turnOn.isVisible()) await turnOn.click();
    await settings.getByText('On in this browser').waitFor();
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => true));
    for (const tab of [host, page]) await setVisible(tab, 'hidden');
    await hideAllTabs(page);
    await outside.client.call('chat.send', { message: 'Anything new?', sessionId: 'filed' });
    await waitFor(async () => (await notifications(page)).length > 0, 'the notification');
    expect((await notifications(page)).map(({ body }) => body)).toEqual(['Kept for later']);
    await page.close();
    await host.close();
  });

  verifies(
    'app/badge',
    'the icon’s number is of approvals and of chats with something new, and a chat in a hidden tab is not read',
    async () => {
      using outside = await connectOutside(at.perch);
      await outside.client.call('chat.send', { message: 'first', sessionId: 'badge' });
      // In a new browser, existing messages count as read.
      await using browser = await launchBrowser();
      const page = await browser.page(await at.perch.open());
      await waitForConnection(page, LINKED_STATUS);
      await recordCalls(page);
      await page.goto(`${at.perch.url}/chat/main/badge`);
      const badge = async (): Promise<number | undefined> => (await getRecordedCalls(page)).badges.at(-1);
      await page.getByText('first').first().waitFor();
      await waitFor(async () => (await badge()) === 0, 'no number');
      await setVisible(page, 'hidden');
      await outside.client.call('chat.send', { message: 'second', sessionId: 'badge' });
      await waitFor(async () => (await badge()) === 1, 'a number for the chat on screen');
      const waits = outside.client.call('chat.send', { message: '/tool exec {"command": "echo", "args": ["x"]}', sessionId: 'asks-too' });
      waits.catch(() => {});
      await waitFor(async () => (await badge()) === 2, 'a number for the approval', 20_000);
      const [approval] = (await outside.client.call('approvals.list', {})).approvals;
      await outside.client.call('approvals.resolve', { id: approval?.id ?? '', decision: 'deny' });
      await waits.catch(() => {});
      await setVisible(page, 'visible');
      // The other chat remains, which was not opened.
      await waitFor(async () => (await badge()) === 1, 'the chat on screen to be read');
      await page.goto(`${at.perch.url}/chat/main/asks-too`);
      await waitFor(async () => (await badge()) === 0, 'all to be read');
      await page.close();
    },
  );

  verifies('app/badge', 'what came after a first look at an empty list is new at the next look, too', async () => {
    await using perch = await startPerch();
    await using browser = await launchBrowser();
    const page = await openLinkedPage(browser, perch);
    await page.getByText('No chats yet').waitFor();
    await recordCalls(page);
    using outside = await connectOutside(perch);
    await outside.client.call('chat.send', { message: 'What can you do?', sessionId: 'new' });
    await page.goto(`${perch.url}/settings`);
    await waitForConnection(page, LINKED_STATUS);
    await waitFor(async () => (await getRecordedCalls(page)).badges.at(-1) === 1, 'the new chat to be counted');
    await page.reload();
    await waitForConnection(page, LINKED_STATUS);
    await waitFor(async () => (await getRecordedCalls(page)).badges.at(-1) === 1, 'it to be counted still');
  });

  verifies('app/keeps-data', 'the browser is asked to keep the data at the first that is made, in whatever part', async () => {
    const page = await open('/annotate');
    await page.getByRole('heading', { name: 'Annotate', level: 1 }).waitFor();
    expect((await getRecordedCalls(page)).persists).toBe(0);
    await page
      .getByRole('button', { name: /empty|blank/i })
      .first()
      .click();
    await page.waitForURL(/\/annotate\/.+/);
    await waitFor(async () => (await getRecordedCalls(page)).persists === 1, 'the question');
    await page.close();
  });

  verifies('app/keeps-data', 'a text that this browser has no room for says so', async () => {
    const page = await open();
    await page.evaluate(() => {
      for (let size = 5 * 1024 * 1024; size >= 1; size = Math.floor(size / 2)) {
        for (let n = 0; n < 3; n++) {
          try {
            localStorage.setItem(`filler.${size}.${n}`, 'x'.repeat(size));
          } catch {
            break;
          }
        }
      }
    });
    await composer(page).fill('This is longer than what is left in there.');
    await page.getByRole('alert').getByText('your draft isn’t saved').waitFor();
    await page.evaluate(() => Object.keys(localStorage).forEach((key) => key.startsWith('filler.') && localStorage.removeItem(key)));
    await composer(page).fill('There is room again.');
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await composer(page).fill('');
    await page.close();
  });
});
