import { afterEach, expect, vi } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { answerPush, confirmOpened, showPush } from './push-receiver.ts';

/** A service worker whose window is visible or not, and whose requests get this status. */
function createWorker({ visibilityState = 'hidden', status = 200 }: { visibilityState?: string; status?: number } = {}) {
  const shown: { title: string; options: NotificationOptions & { actions?: unknown } }[] = [];
  const posted: unknown[] = [];
  vi.stubGlobal('fetch', async (path: string, { body }: { body: string }) => {
    posted.push([path, (JSON.parse(body) as { value: string }).value]);
    if (status === 0) throw new TypeError('offline');
    return new Response(null, { status });
  });
  const registration = {
    showNotification: async (title: string, options: NotificationOptions = {}) => void shown.push({ title, options }),
  };
  return { worker: { registration, clients: { matchAll: async () => [{ visibilityState }] } }, shown, posted };
}

const MESSAGE = {
  ...{ kind: 'approval', tag: 'approval:1', body: 'Run uptime', path: '/approvals', receipts: { shown: 's1', opened: 'o1' } },
  buttons: [
    { kind: 'approve', value: 'a1' },
    { kind: 'deny', value: 'd1' },
    { kind: 'other', value: 'x' },
  ],
};
const toData = (value: unknown) => ({ json: () => value });

afterEach(() => vi.unstubAllGlobals());

verifies('push/app', 'shows a message with its buttons, and confirms it', async () => {
  const { worker, shown, posted } = createWorker();
  await showPush(worker, toData(MESSAGE));
  expect(shown).toEqual([
    {
      title: 'Approval needed',
      options: {
        ...{ tag: 'approval:1', body: 'Run uptime', icon: '/icon-192.png', requireInteraction: true },
        data: { href: '/approvals', answers: { approve: 'a1', deny: 'd1' }, opened: 'o1' },
        actions: [
          { action: 'approve', title: 'Allow once' },
          { action: 'deny', title: 'Deny' },
        ],
      },
    },
  ]);
  await confirmOpened({ href: '/', opened: 'o1' });
  await confirmOpened({ href: '/' });
  expect(posted).toEqual([
    ['/push/answer', 's1'],
    ['/push/answer', 'o1'],
  ]);
});

verifies('push/app', 'shows no approval in sight of the app, something general for garbage, and opens only its own pages', async () => {
  const visible = createWorker({ visibilityState: 'visible' });
  await showPush(visible.worker, toData(MESSAGE));
  expect([visible.shown, visible.posted]).toEqual([[], []]);
  const { worker, shown } = createWorker();
  const throwing = {
    json: () => {
      throw new SyntaxError('not JSON');
    },
  };
  for (const data of [null, throwing, toData(null), toData({ kind: 'approval' }), toData({ ...MESSAGE, kind: 'odd' })])
    await showPush(worker, data);
  expect(shown.map(({ title, options: { tag } }) => [title, tag])).toEqual(Array(5).fill(['Perch', 'push']));
  for (const path of ['//evil.test', 'https://evil.test', '/\\evil.test', 7]) await showPush(worker, toData({ ...MESSAGE, path }));
  expect(shown.slice(5).map(({ options: { data } }) => (data as { href: string }).href)).toEqual(['/', '/', '/', '/']);
});

verifies('push/app', 'a button without effect says why', async () => {
  for (const [status, body] of [
    [404, 'This request is no longer open.'],
    [409, 'This request is no longer open.'],
    [503, 'Perch can’t be reached. Open it to decide.'],
    [0, 'Perch can’t be reached. Open it to decide.'],
  ] as const) {
    const { worker, shown } = createWorker({ status });
    await answerPush(worker, { title: 'Approval needed', tag: 'approval:1' }, 'a1');
    expect(shown).toMatchObject([{ title: 'Approval needed', options: { tag: 'approval:1', body, data: { href: '/approvals' } } }]);
  }
  const { worker, shown, posted } = createWorker();
  await answerPush(worker, { title: 'Approval needed', tag: 'approval:1' }, 'a1');
  expect([shown, posted]).toEqual([[], [['/push/answer', 'a1']]]);
});
