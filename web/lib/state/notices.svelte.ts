import type { Approval } from '#shared/rpc/methods/approvals.ts';
import type { EventPayload } from '#shared/rpc/events.ts';
import { BASE, named } from '#lib/demo.ts';
import { gateway } from '#lib/gateway/connection.svelte.ts';
import { m } from '#lib/i18n/frame.ts';
import { loadWords } from '#lib/i18n/load.ts';
import { kept } from './kept.ts';
import { visible } from './visible.svelte.ts';

/** Held by every tab that can be seen. */
const SEEN_LOCK = named('perch-seen');

interface Told {
  /** One at a time for each: tabs that are hidden all tell, and it is shown once. */
  tag: string;
  title: string;
  body: string;
  /** Address opened by a click. */
  href: string;
}

/** Notifications of the system while no tab can be seen: replies that have ended, and what waits for a person's word. */
class Notices {
  readonly supported = 'Notification' in globalThis && 'serviceWorker' in navigator;
  permission = $state<NotificationPermission>(this.supported ? Notification.permission : 'denied');
  #wanted = $state(kept.read('notify') === 'on');
  readonly on = $derived(this.#wanted && this.permission === 'granted');
  #started = false;

  start(): void {
    if (this.#started || !this.supported) return;
    this.#started = true;
    kept.watch('notify', (value) => (this.#wanted = value === 'on'));
    void this.#followPermission();
    gateway.on('chat.done', (event) => void this.#ended(event, m.state_notice_reply_done()));
    gateway.on('chat.error', (event) => event.error.code !== 'ABORTED' && void this.#ended(event, m.state_notice_reply_failed()));
    gateway.on('approval.requested', ({ approval }) => void this.#ask(approval));
    gateway.on('approval.resolved', ({ approval }) => void this.#withdraw(({ tag }) => tag === noticeOf(approval).tag));
  }

  /** Asks the browser, where it has not been asked, and turns them on. Called by a button alone. */
  async turnOn(): Promise<void> {
    this.permission = await Notification.requestPermission();
    this.#want(this.permission === 'granted');
  }

  turnOff(): void {
    this.#want(false);
  }

  /** While this tab can be seen no other tells anything; the result ends it. */
  beSeen(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    void navigator.locks.request(SEEN_LOCK, { mode: 'shared' }, () => promise);
    return resolve;
  }

  /** The chat on screen is read: what was told of its replies is known. */
  async read(path: string): Promise<void> {
    if (!this.supported) return;
    await this.#withdraw(({ tag, data }) => tag.startsWith('run:') && `${(data as Told).href}.jsonl` === `/chat/${path}`);
  }

  #want(on: boolean): void {
    this.#wanted = on;
    kept.write('notify', on ? 'on' : null);
  }

  async #followPermission(): Promise<void> {
    const status = await navigator.permissions.query({ name: 'notifications' });
    status.onchange = () => (this.permission = Notification.permission);
  }

  async #ended(
    { agentId, sessionId, runId }: Pick<EventPayload<'chat.done'>, 'agentId' | 'sessionId' | 'runId'>,
    title: string,
  ): Promise<void> {
    if (!this.on || visible.now) return;
    const chat = `${agentId}/${sessionId}`;
    // Asked for: a list on screen need not have it, and that of a hidden tab, whose timers wait, not yet.
    const read = await gateway.call('sessions.list', { paths: [`${chat}.jsonl`] }).catch(() => null);
    void this.#tell({ tag: `run:${runId}`, title, body: read?.sessions[0]?.title ?? '', href: `/chat/${chat}` });
  }

  /** Says what was read before, in words that a visit does not load at its start. */
  async #ask(approval: Approval): Promise<void> {
    const notice = noticeOf(approval);
    if (!this.on || visible.now) return;
    const after = approval.outside ? await describeOutside(approval.outside).catch(() => '') : '';
    await this.#tell(after === '' ? notice : { ...notice, body: `${notice.body}\n${after}` });
  }

  async #tell({ tag, title, body, href }: Told): Promise<void> {
    if (!this.on || visible.now) return;
    const { held = [] } = await navigator.locks.query();
    if (held.some(({ name }) => name === SEEN_LOCK)) return;
    const registration = await navigator.serviceWorker.getRegistration();
    await registration?.showNotification(title, { tag, body, icon: `${BASE}icon-192.png`, data: { href } });
  }

  async #withdraw(isOver: (notification: Notification) => boolean): Promise<void> {
    const registration = await navigator.serviceWorker.getRegistration();
    for (const notification of (await registration?.getNotifications()) ?? []) if (isOver(notification)) notification.close();
  }
}

async function describeOutside(outside: readonly string[]): Promise<string> {
  const [{ describeAfterReading }] = await Promise.all([import('#lib/trust/describe-sources.ts'), loadWords('later')]);
  return describeAfterReading(outside);
}

const noticeOf = ({ id, summary, agentId, sessionId }: Approval): Told => ({
  tag: `approval:${id}`,
  title: m.state_notice_approval(),
  body: summary,
  href: sessionId === null ? '/approvals' : `/chat/${agentId ?? 'main'}/${sessionId}`,
});

export const notices = new Notices();
