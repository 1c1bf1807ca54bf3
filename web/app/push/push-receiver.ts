// Push messages in the service worker: shows them, and reports the buttons that are pressed.
import { PUSH_ANSWER_PATH } from '#shared/push-answer-path.ts';
import { parsePushMessage, type PushMessage } from '#shared/push-message.ts';
import type { PushTexts } from '#shared/push-texts.ts';
import { readPushTexts } from './push-texts.ts';

/** The parts of the service worker that are used here: its types are in a library of their own. */
interface Worker {
  registration: Pick<ServiceWorkerRegistration, 'showNotification'>;
  clients: { matchAll(options: { type: 'window' }): Promise<readonly { visibilityState?: string }[]> };
}

interface MessageData {
  json(): unknown;
}

/** `data` of a notification. */
export interface NotificationData {
  /** Page that a click opens. */
  href: string;
  /** Values of the buttons, by action. */
  answers?: Partial<Record<string, string>>;
  /** Reported when a click opens it. */
  opened?: string;
}

const ICON = '/icon-192.png';
const APPROVALS_PATH = '/approvals';
const ANSWER_TIMEOUT_MS = 30_000;

/** Shows a message. Browsers require a notification for each one, so an unreadable message shows a general one. */
export async function showPush({ registration, clients }: Worker, data: MessageData | null): Promise<void> {
  const texts = await readPushTexts();
  const message = parseData(data) ?? { kind: 'message', tag: 'push', body: '', path: '/' };
  // The app shows the approval itself.
  if (message.kind === 'approval' && (await isAppVisible(clients))) return;
  await registration.showNotification(message.title ?? texts[message.kind], toNotification(message, texts));
  if (message.receipts) await postValue(message.receipts.shown);
}

/** Reports that a click has opened a notification. */
export async function confirmOpened({ opened }: NotificationData): Promise<void> {
  if (opened !== undefined) await postValue(opened);
}

/** The status of the response; 0 if there is none. */
const postValue = (value: string): Promise<number> =>
  fetch(PUSH_ANSWER_PATH, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ value }),
    signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
  }).then(
    (response) => response.status,
    () => 0,
  );

/** Reports a pressed button. Tells the person if it had no effect. */
export async function answerPush(
  { registration }: Worker,
  notification: Pick<Notification, 'title' | 'tag'>,
  value: string,
): Promise<void> {
  const status = await postValue(value);
  if (status === 200) return;
  const texts = await readPushTexts();
  await registration.showNotification(notification.title, {
    ...{ tag: notification.tag, icon: ICON, data: { href: APPROVALS_PATH } satisfies NotificationData },
    body: status === 404 || status === 409 ? texts.closed : texts.unreachable,
  });
}

function parseData(data: MessageData | null): PushMessage | undefined {
  try {
    return parsePushMessage(data?.json());
  } catch {
    return undefined;
  }
}

async function isAppVisible(clients: Worker['clients']): Promise<boolean> {
  const windows = await clients.matchAll({ type: 'window' });
  return windows.some((client) => client.visibilityState === 'visible');
}

function toNotification({ kind, tag, body, path, buttons = [], receipts }: PushMessage, texts: PushTexts): NotificationOptions {
  const answers = Object.fromEntries(buttons.map((button) => [button.kind, button.value]));
  const data: NotificationData = { href: path, answers, ...(receipts ? { opened: receipts.opened } : {}) };
  return {
    ...{ tag, icon: ICON, data, body: kind === 'test' ? texts.testBody : body },
    // Not in TypeScript's DOM library: https://notifications.spec.whatwg.org/#dom-notificationoptions-actions
    ...({ actions: buttons.map((button) => ({ action: button.kind, title: texts[button.kind] })) } as NotificationOptions),
    requireInteraction: buttons.length > 0,
  };
}
