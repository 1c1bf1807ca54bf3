import type { VaultCopy } from './vault-copies.ts';

interface SentMessage {
  text: string;
  session: string;
  /** The reply, once it was acknowledged, and when that was. */
  reply?: { id: string; acknowledgedAt: number };
}

/** One try to give something a value; `acknowledgedAt`: when it was acknowledged. */
interface WriteAttempt {
  value: string;
  startedAt: number;
  acknowledgedAt?: number;
}

/** Responses that writers received, to compare with the final state. */
export class WriteLedger {
  readonly #sentMessages: SentMessage[] = [];
  readonly #written = new Map<string, WriteAttempt[]>();
  /** When it was acknowledged. */
  readonly #deletedIds = new Map<string, number>();
  readonly #deletable = new Set<string>();
  acknowledged = 0;
  failed = 0;

  /** Marks a session that may be deleted at any time: its messages are not checked. */
  markDeletable(session: string): void {
    this.#deletable.add(session);
  }

  async send(text: string, session: string, work: Promise<{ messageId: string }>): Promise<void> {
    const entry: SentMessage = { text, session };
    this.#sentMessages.push(entry);
    const done = await this.#findAcknowledged(work);
    if (done) entry.reply = { id: done.messageId, acknowledgedAt: performance.now() };
  }

  /** A title, a setting: the last one counts. */
  async write(what: string, value: string, work: Promise<unknown>): Promise<void> {
    const attempt: WriteAttempt = { value, startedAt: performance.now() };
    this.#written.set(what, [...(this.#written.get(what) ?? []), attempt]);
    if (await this.#findAcknowledged(work.then(() => true))) attempt.acknowledgedAt = performance.now();
  }

  /** Records that the session was deleted; no other writer uses it. */
  async isDeleted(session: string, work: Promise<unknown>): Promise<void> {
    this.#deletable.add(session);
    if (await this.#findAcknowledged(work.then(() => true))) this.#deletedIds.set(session, performance.now());
  }

  async #findAcknowledged<T>(work: Promise<T>): Promise<T | undefined> {
    try {
      const result = await work;
      this.acknowledged++;
      return result;
    } catch {
      this.failed++;
      return undefined;
    }
  }

  /** Records that are missing from a copy made after `at`, or duplicated; empty if there are none. */
  findViolations({ records, versions }: VaultCopy, at: number): string[] {
    const rows = (store: string): [string, Row][] =>
      [...records].flatMap(([id, row]) => (id.startsWith(`${store}/`) ? [[id.slice(store.length + 1), row as Row]] : []));
    const messages = rows('messages');
    const complaints: string[] = [];
    const texts = new Map<string, number>();
    for (const [, { role, content, sessionKey }] of messages) {
      if (role === 'user') texts.set(`${sessionKey} ${String(content)}`, (texts.get(`${sessionKey} ${String(content)}`) ?? 0) + 1);
    }
    for (const { text, session, reply } of this.#sentMessages) {
      const count = texts.get(`main/${session} ${text}`) ?? 0;
      if (count > 1) complaints.push(`“${text}” is in ${session} ${count} times`);
      if (!reply || reply.acknowledgedAt > at || this.#deletable.has(session)) continue;
      if (count === 0) complaints.push(`“${text}” was acknowledged and is not in ${session}`);
      if (!records.has(`messages/${reply.id}`)) complaints.push(`the reply to “${text}”, ${reply.id}, was acknowledged and is not there`);
    }
    for (const [session, told] of this.#deletedIds) {
      if (told > at) continue;
      if (records.has(`sessions/main/${session}`)) complaints.push(`${session} was deleted and is there`);
      if (messages.some(([, { sessionKey }]) => sessionKey === `main/${session}`)) complaints.push(`messages of ${session} are there`);
    }
    for (const [what, all] of this.#written) {
      // Writes acknowledged later may or may not be there yet.
      const tries = all.map(({ value, startedAt, acknowledgedAt }): WriteAttempt =>
        acknowledgedAt === undefined || acknowledgedAt > at ? { value, startedAt } : { value, startedAt, acknowledgedAt },
      );
      const lastBegun = Math.max(...tries.map(({ startedAt, acknowledgedAt }) => (acknowledgedAt === undefined ? 0 : startedAt)));
      if (lastBegun === 0) continue;
      // A write without a response may have been applied at any time.
      const allowed = new Set(
        tries.filter(({ acknowledgedAt }) => acknowledgedAt === undefined || acknowledgedAt >= lastBegun).map(({ value }) => value),
      );
      const [kind = '', name = ''] = what.split(' ');
      const [store, key] = kind === 'title' ? ['sessions', `main/${name}`] : ['config', `providers.${name}`];
      const getValue = (row: Row | undefined): string =>
        String(kind === 'title' ? row?.title : ((row?.value as Row | undefined)?.baseUrl ?? row?.baseUrl));
      const value = getValue(records.get(`${store}/${key}`) as Row | undefined);
      // A host that had not read it (its data was cleared) may have written concurrently: then the version is kept as a conflict.
      const aside = rows('conflicts').flatMap(([, row]) =>
        row.store === store && row.key === key ? [getValue(JSON.parse(String(row.payload)) as Row)] : [],
      );
      // The reading says when it was written, and by which life of which worker.
      const version = versions.get(`${store}/${key}`);
      if (![value, ...aside].some((one) => allowed.has(one)))
        complaints.push(`${what} is ${value} (${version}), not ${[...allowed].join(' or ')}`);
    }
    return complaints;
  }
}

type Row = Record<string, unknown>;
