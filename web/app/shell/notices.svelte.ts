import type { Approval } from '#shared/rpc/methods/approval-contracts.ts';
import type { EventPayload } from '#shared/rpc/events.ts';
import { BASE_PATH, toScopedName } from '../state/demo.ts';
import { gateway } from '../connection/gateway-connection.svelte.ts';
import { m } from '../i18n/messages.ts';
import { withMessages } from '../i18n/load-messages.ts';
import { safeLocalStorage } from '../state/safe-local-storage.ts';
import { pageVisibility } from '../connection/page-visibility.svelte.ts';

/** Lock held by every visible tab. */
const SEEN_LOCK = toScopedName('perch-seen');

interface NoticeContent {
  /** Identifies a notice: all hidden tabs send it, and the browser shows it once. */
  tag: string;
  title: string;
  body: string;
  /** Address opened by a click. */
  href: string;
}

/** System notifications while no tab is visible: ended replies, and pending approvals. */
class Notices {
  readonly isSupported = 'Notification' in globalThis && 'serviceWorker' in navigator;
  permission = $state<NotificationPermission>(this.isSupported ? Notification.permission : 'denied');
  #isEnabled = $state(safeLocalStorage.read('notify') === 'on');
  readonly isOn = $derived(this.#isEnabled && this.permission === 'granted');
  #started = false;

  start(): void {
    if (this.#started || !this.isSupported) return;
    this.#started = true;
    safeLocalStorage.watch('notify', (value) => (this.#isEnabled = value === 'on'));
    void this.#followPermission();
    if (safeLocalStorage.read('push') !== null) void renewPush().catch(() => {});
    gateway.on('chat.done', (event) => void this.#notifyRunEnd(event, m.state_notice_reply_done()));
    gateway.on('chat.error', (event) => event.error.code !== 'ABORTED' && void this.#notifyRunEnd(event, m.state_notice_reply_failed()));
    gateway.on('approval.requested', ({ approval }) => void this.#notifyApproval(approval));
    gateway.on('approval.resolved', ({ approval }) => void this.#withdraw(({ tag }) => tag === toApprovalNotice(approval).tag));
  }

  /** Requests permission and turns notifications on. Requires a user gesture. */
  async turnOn(): Promise<void> {
    this.permission = await Notification.requestPermission();
    this.#setEnabled(this.permission === 'granted');
  }

  turnOff(): void {
    this.#setEnabled(false);
  }

  /** Marks this tab as visible, which silences notices of all tabs. Returns a function that ends this. */
  holdVisibleLock(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    void navigator.locks.request(SEEN_LOCK, { mode: 'shared' }, () => promise);
    return resolve;
  }

  /** Closes notices about replies of the chat on screen. */
  async clearForPath(path: string): Promise<void> {
    if (!this.isSupported) return;
    await this.#withdraw(({ tag, data }) => tag.startsWith('run:') && `${(data as NoticeContent).href}.jsonl` === `/chat/${path}`);
  }

  #setEnabled(on: boolean): void {
    this.#isEnabled = on;
    safeLocalStorage.write('notify', on ? 'on' : null);
  }

  async #followPermission(): Promise<void> {
    const status = await navigator.permissions.query({ name: 'notifications' });
    status.onchange = () => (this.permission = Notification.permission);
  }

  async #notifyRunEnd(
    { agentId, sessionId, runId }: Pick<EventPayload<'chat.done'>, 'agentId' | 'sessionId' | 'runId'>,
    title: string,
  ): Promise<void> {
    if (!this.isOn || pageVisibility.isVisible) return;
    const chat = `${agentId}/${sessionId}`;
    // The title is requested, since the list may lack the chat, or be outdated as timers of hidden tabs are delayed.
    const result = await gateway.call('sessions.list', { paths: [`${chat}.jsonl`] }).catch(() => null);
    // A sub-agent's answer is for its caller.
    if (result?.sessions[0]?.subAgent) return;
    void this.#showNotice({ tag: `run:${runId}`, title, body: result?.sessions[0]?.title ?? '', href: `/chat/${chat}` });
  }

  /** Shows an approval, with the content from outside that was read before; its texts are loaded on demand. */
  async #notifyApproval(approval: Approval): Promise<void> {
    const notice = toApprovalNotice(approval);
    if (!this.isOn || pageVisibility.isVisible) return;
    const outsideText = approval.outside ? await describeOutside(approval.outside).catch(() => '') : '';
    await this.#showNotice(outsideText === '' ? notice : { ...notice, body: `${notice.body}\n${outsideText}` });
  }

  async #showNotice({ tag, title, body, href }: NoticeContent): Promise<void> {
    if (!this.isOn || pageVisibility.isVisible) return;
    const { held: heldLocks = [] } = await navigator.locks.query();
    if (heldLocks.some(({ name }) => name === SEEN_LOCK)) return;
    const registration = await navigator.serviceWorker.getRegistration();
    // A push notification about the same approval has buttons.
    if (((await registration?.getNotifications({ tag })) ?? []).length > 0) return;
    await registration?.showNotification(title, { tag, body, icon: `${BASE_PATH}icon-192.png`, data: { href } });
  }

  async #withdraw(isObsolete: (notification: Notification) => boolean): Promise<void> {
    const registration = await navigator.serviceWorker.getRegistration();
    for (const notification of (await registration?.getNotifications()) ?? []) if (isObsolete(notification)) notification.close();
  }
}

/** Renews the subscription to push notifications. If that fails, the next start tries again. */
async function renewPush(): Promise<void> {
  const { pushDevices } = await withMessages(import('../push/push-devices.svelte.ts'));
  await pushDevices.renew();
}

async function describeOutside(outside: readonly string[]): Promise<string> {
  const { describeAfterReading } = await withMessages(import('../trust/describe-sources.ts'));
  return describeAfterReading(outside);
}

const toApprovalNotice = ({ id, summary, agentId, sessionId, subAgent }: Approval): NoticeContent => ({
  tag: `approval:${id}`,
  title: m.state_notice_approval(),
  body: summary,
  href: subAgent
    ? `/chat/${subAgent.chat.replace(/\.jsonl$/, '')}`
    : sessionId === null
      ? '/approvals'
      : `/chat/${agentId ?? 'main'}/${sessionId}`,
});

export const notices = new Notices();
