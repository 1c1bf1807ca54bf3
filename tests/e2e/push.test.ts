import type { Page } from 'playwright';
import { describe, expect, test } from 'vitest';
import type { PushMessage } from '#shared/push-message.ts';
import { verifies } from '../requirements.ts';
import { createSubscriber } from '../support/push-subscriber.ts';
import { waitFor } from '../support/test-gateway.ts';
import { openLinkedPage } from './connection-status.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { connectOutside } from './outside-client.ts';
import { findFullBrowserProgram } from './perch-process.ts';
import { takeScreenshots } from './take-screenshots.ts';

/** The tests have no push service: the browser's subscription is replaced, its permission, messages and notifications are real. */
async function replaceSubscriptions(page: Page): Promise<void> {
  await page.addInitScript((keys) => {
    let current: unknown = null;
    const subscribe = async ({ applicationServerKey }: { applicationServerKey: Uint8Array }) =>
      (current = {
        options: { applicationServerKey: applicationServerKey.slice().buffer },
        toJSON: () => ({ endpoint: 'https://push.invalid/1', keys }),
        unsubscribe: async () => ((current = null), true),
      });
    Object.assign(PushManager.prototype, { subscribe, getSubscription: async () => current });
  }, createSubscriber().keys);
}

/** The values of the buttons that the gateway has made for an approval. */
const readButtons = (page: Page, approvalId: string): Promise<{ label: string; value: string }[]> =>
  page.evaluate(async (id) => {
    const wait = <T>(request: IDBRequest<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    for (const { name = '' } of await indexedDB.databases()) {
      const db = await wait(indexedDB.open(name));
      try {
        if (!db.objectStoreNames.contains('deliveries')) continue;
        const records = (await wait(db.transaction('deliveries').objectStore('deliveries').getAll())) as {
          source: { id: string };
          buttons?: { label: string; value: string }[];
        }[];
        return records.find(({ source }) => source.id === id)?.buttons ?? [];
      } finally {
        db.close();
      }
    }
    return [];
  }, approvalId);

// A headless shell shows no notifications.
const executable = await findFullBrowserProgram();
if (executable === null) test.skip('push/app: a full Chromium is not installed here', () => {});
describe.runIf(executable !== null)('push notifications', () => {
  const at = useGatewayAndBrowser({ executable });

  verifies(
    ['push/app', 'push/approvals'],
    'turned on in the settings, shown by the service worker, and a button there lets a command run',
    async () => {
      const page = await openLinkedPage(at.browser, at.perch);
      await at.browser.context.grantPermissions(['notifications'], { origin: at.perch.url });
      await replaceSubscriptions(page);
      await page.goto(`${at.perch.url}/settings#push`);
      const section = page.getByRole('region', { name: 'Push notifications' });
      await section.getByText('Off for this device').waitFor();
      await section.getByRole('button', { name: 'Turn on' }).click();
      await section.getByText('On for this device').waitFor();
      await section.getByText('push.invalid').waitFor();
      await takeScreenshots(page, 'push');
      await section.getByRole('button', { name: 'Send a test' }).click();
      await section.getByText(/Couldn’t send a test notification/).waitFor();

      await page.goto(`${at.perch.url}/approvals`);
      await page.getByRole('checkbox', { name: 'My devices with push notifications' }).check();
      await takeScreenshots(page, 'deliver');
      using outside = await connectOutside(at.perch);
      const { request } = await outside.client.call('exec.create', { command: 'uptime', args: [] });
      let buttons: { label: string; value: string }[] = [];
      await waitFor(async () => (buttons = await readButtons(page, request.requestId)).length === 2, 'the buttons');
      expect(buttons.map(({ label }) => label)).toEqual(['Allow once', 'Deny']);

      const session = await at.browser.context.newCDPSession(page);
      const registration = Promise.withResolvers<string>();
      session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
        const [first] = registrations.filter(({ isDeleted }) => !isDeleted);
        if (first) registration.resolve(first.registrationId);
      });
      await session.send('ServiceWorker.enable');
      const registrationId = await registration.promise;
      const deliver = (message: PushMessage | string) =>
        session.send('ServiceWorker.deliverPushMessage', {
          ...{ origin: at.perch.url, registrationId },
          data: typeof message === 'string' ? message : JSON.stringify(message),
        });
      const listNotifications = () =>
        page.evaluate(async () =>
          (await (await navigator.serviceWorker.ready).getNotifications()).map((each) => ({
            ...{ title: each.title, body: each.body, tag: each.tag },
            actions: (each as unknown as { actions: { title: string }[] }).actions.map(({ title }) => title),
          })),
        );
      const answers = {
        buttons: buttons.map(({ value }, index) => ({ kind: index === 0 ? ('approve' as const) : ('deny' as const), value })),
      };
      await deliver({ kind: 'message', tag: 'one', body: 'Run uptime', path: '/approvals', ...answers });
      await waitFor(async () => (await listNotifications()).length === 1, 'the notification');
      expect(await listNotifications()).toEqual([{ title: 'Perch', body: 'Run uptime', tag: 'one', actions: ['Allow once', 'Deny'] }]);
      // The visible app shows an approval itself; an unreadable message is shown as a general one.
      await deliver({ kind: 'approval', tag: 'two', body: 'Run uptime', path: '/approvals' });
      await deliver('not JSON');
      await waitFor(async () => (await listNotifications()).length === 2, 'the general notification');
      expect((await listNotifications()).map(({ tag }) => tag).sort()).toEqual(['one', 'push']);

      const press = async (tag: string, action: string): Promise<void> => {
        const worker = at.browser.context.serviceWorkers().find((each) => each.url().startsWith(at.perch.url));
        await worker?.evaluate(
          async ({ tag, action }) => {
            const scope = globalThis as unknown as { registration: ServiceWorkerRegistration; dispatchEvent(event: Event): void };
            const notification = (await scope.registration.getNotifications({ tag }))[0];
            const Click = (globalThis as unknown as { NotificationEvent: new (type: string, init: object) => Event }).NotificationEvent;
            scope.dispatchEvent(new Click('notificationclick', { notification, action }));
          },
          { tag, action },
        );
      };
      await press('one', 'approve');
      await waitFor(
        async () => (await outside.client.call('exec.get', { requestId: request.requestId })).request.status === 'completed',
        'its run',
      );
      expect((await listNotifications()).map(({ tag }) => tag)).toEqual(['push']);
      // Again: the person is told that it is over.
      await deliver({ kind: 'message', tag: 'three', body: 'Run uptime', path: '/approvals', ...answers });
      await waitFor(async () => (await listNotifications()).length === 2);
      await press('three', 'deny');
      await waitFor(async () => (await listNotifications()).some(({ body }) => body === 'This request is no longer open.'), 'the reason');

      await page.goto(`${at.perch.url}/settings#push`);
      await section.getByRole('button', { name: 'Turn off' }).click();
      await section.getByText('Off for this device').waitFor();
      await waitFor(async () => (await outside.client.call('push.list', {})).devices.length === 0, 'the removed device');
    },
  );
});
