import type { FetchMessageObject, ImapFlow, SearchObject } from 'imapflow';
import { type IncomingMail, MAX_MAIL_BYTES, type MailPosition, type MailServer } from '#shared/ports/mail-port.ts';
import { isLoopbackHost } from '../loopback-host.ts';
import { createServerError, toImapError } from './mail-errors.ts';

/** Number of mails per response. */
const MAX_MAILS = 20;
/** Maximum bytes of the mails of a response, unless the first one alone is larger. */
const MAX_TOTAL_BYTES = 15 * 1024 * 1024;
const CONNECT_TIMEOUT_MS = 20_000;
const DAY_MS = 24 * 3_600_000;

/** Connects and signs in. Rejects with an `RpcError`. */
export async function connectImap(server: MailServer, signal?: AbortSignal): Promise<ImapFlow> {
  const { ImapFlow } = await import('imapflow');
  const { host, port, security, user, secret, method } = server;
  const isLocal = isLoopbackHost(host);
  const client = new ImapFlow({
    ...{ host, port, secure: security === 'tls', logger: false, disableAutoIdle: true, clientInfo: { name: 'Perch' } },
    // A server on this computer may have no certificate, or one that it made itself.
    ...(security === 'starttls' && !isLocal ? { doSTARTTLS: true } : {}),
    ...(isLocal ? { tls: { rejectUnauthorized: false } } : {}),
    auth: method === 'xoauth2' ? { user, accessToken: secret } : { user, pass: secret },
    ...{ connectionTimeout: CONNECT_TIMEOUT_MS, greetingTimeout: CONNECT_TIMEOUT_MS, maxLiteralSize: MAX_MAIL_BYTES + 1024 },
  });
  // Without a listener the process would end; commands in progress reject by themselves.
  client.on('error', () => {});
  const stop = (): void => client.close();
  signal?.addEventListener('abort', stop, { once: true });
  try {
    signal?.throwIfAborted();
    await client.connect();
    signal?.throwIfAborted();
    return client;
  } catch (error) {
    client.close();
    signal?.throwIfAborted();
    throw toImapError(error, server);
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

/** An open folder. */
export class ImapSession {
  readonly #client: ImapFlow;
  readonly #server: MailServer;
  readonly #folder: string;
  #hasNews = false;
  #wake = (): void => {};

  private constructor(client: ImapFlow, server: MailServer, folder: string) {
    this.#client = client;
    this.#server = server;
    this.#folder = folder;
    client.on('exists', () => this.#notify());
    client.on('close', () => this.#notify());
  }

  /** Opens a folder for reading only. Rejects with an `RpcError`. */
  static async open(server: MailServer, folder: string, signal: AbortSignal): Promise<ImapSession> {
    const client = await connectImap(server, signal);
    try {
      await client.mailboxOpen(folder, { readOnly: true });
    } catch (error) {
      client.close();
      throw toImapError(error, server, folder);
    }
    return new ImapSession(client, server, folder);
  }

  get isUsable(): boolean {
    return this.#client.usable;
  }

  /** The mails after a position; waits up to `waitMs` for the first one. */
  async poll(
    after: MailPosition | null,
    { waitMs, now, signal }: { waitMs: number; now: number; signal: AbortSignal },
  ): Promise<{ position: MailPosition; mails: IncomingMail[]; hasMore: boolean }> {
    return this.#run(async () => {
      const first = await this.#readNew(after, now);
      if (after === null || first.mails.length > 0 || first.position.uidNext !== after.uidNext || waitMs === 0) return first;
      await this.#waitForNews(waitMs, signal);
      return this.#readNew(first.position, now);
    });
  }

  /** The source of a mail; undefined if it is gone. */
  fetch(uidValidity: string, uid: number): Promise<Buffer | undefined> {
    return this.#run(async () => {
      if (String(this.#getMailbox().uidValidity) !== uidValidity) return undefined;
      const found = await this.#client.fetchOne(String(uid), { source: { maxLength: MAX_MAIL_BYTES } }, { uid: true });
      return found === false ? undefined : found.source;
    });
  }

  close(): void {
    this.#client.close();
  }

  async #run<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw toImapError(error, this.#server, this.#folder);
    }
  }

  #getMailbox(): { uidValidity: bigint; uidNext: number } {
    const { mailbox } = this.#client;
    if (!mailbox) throw new Error('The folder was closed.');
    return mailbox;
  }

  #notify(): void {
    this.#hasNews = true;
    this.#wake();
  }

  async #readNew(after: MailPosition | null, now: number): Promise<{ position: MailPosition; mails: IncomingMail[]; hasMore: boolean }> {
    this.#hasNews = false;
    // Servers report changes with the next command, and search what they have reported.
    await this.#client.noop();
    if (after === null) return { position: { ...this.#getStart(), newestAt: now, notBefore: 0 }, mails: [], hasMore: false };
    const start = this.#getStart();
    const position =
      start.uidValidity === after.uidValidity
        ? after
        : { ...after, ...start, notBefore: after.newestAt, uidNext: await this.#findFirst(after.newestAt, start.uidNext) };
    return this.#read(position);
  }

  #getStart(): { uidValidity: string; uidNext: number } {
    const { uidValidity, uidNext } = this.#getMailbox();
    return { uidValidity: String(uidValidity), uidNext: Math.max(1, uidNext) };
  }

  /** Lowest UID of mails that arrived at a time or later; `uidNext` if there is none. */
  async #findFirst(since: number, uidNext: number): Promise<number> {
    // Servers compare dates without times or zones.
    return Math.min(uidNext, ...(await this.#search({ since: new Date(since - DAY_MS) })));
  }

  async #read(position: MailPosition): Promise<{ position: MailPosition; mails: IncomingMail[]; hasMore: boolean }> {
    // `*` is the last mail, also if its UID is lower (RFC 3501, section 6.4.8).
    const uids = (await this.#search({ uid: `${position.uidNext}:*` })).filter((uid) => uid >= position.uidNext);
    const range = uids.slice(0, MAX_MAILS);
    if (range.length === 0) return { position, mails: [], hasMore: false };
    const infos = await this.#client.fetchAll(range.join(','), { uid: true, size: true, internalDate: true }, { uid: true });
    const mails: IncomingMail[] = [];
    let { uidNext, newestAt } = position;
    let total = 0;
    for (const info of infos.toSorted((a, b) => a.uid - b.uid)) {
      const size = Math.min(info.size ?? 0, MAX_MAIL_BYTES);
      if (mails.length > 0 && total + size > MAX_TOTAL_BYTES) break;
      const receivedAt = toTime(info);
      if (receivedAt >= position.notBefore) {
        const mail = await this.#client.fetchOne(String(info.uid), { source: { maxLength: MAX_MAIL_BYTES } }, { uid: true });
        const content = mail === false ? undefined : mail.source;
        // Another program may have deleted it meanwhile.
        if (!content && (await this.#search({ uid: String(info.uid) })).length > 0) throw createServerError();
        if (content)
          mails.push({ uid: info.uid, receivedAt, source: content.toString('base64'), isCut: (info.size ?? 0) > MAX_MAIL_BYTES });
        total += size;
      }
      newestAt = Math.max(newestAt, receivedAt);
      uidNext = info.uid + 1;
    }
    // Mails that were deleted between the two commands have no info.
    const last = infos.length === 0 ? range.at(-1) : undefined;
    if (last !== undefined) uidNext = last + 1;
    return { position: { ...position, uidNext, newestAt }, mails, hasMore: uids.some((uid) => uid >= uidNext) };
  }

  /** UIDs in ascending order. The library resolves with no list if the server refuses. */
  async #search(query: SearchObject): Promise<number[]> {
    const found = await this.#client.search(query, { uid: true });
    if (!found) throw createServerError();
    return found.toSorted((a, b) => a - b);
  }

  /** Resolves when mail has arrived, the connection has ended, or the time is up. */
  async #waitForNews(waitMs: number, signal: AbortSignal): Promise<void> {
    if (this.#hasNews) return;
    const ended = Promise.withResolvers<void>();
    this.#wake = ended.resolve;
    const timer = setTimeout(ended.resolve, waitMs);
    signal.addEventListener('abort', () => ended.resolve(), { once: true });
    // Ends when another command is run. A server without IDLE is polled by the library.
    const idle = this.#client.idle().catch(() => undefined);
    void idle.then((result) => result === false && ended.resolve());
    await ended.promise;
    clearTimeout(timer);
    signal.throwIfAborted();
  }
}

function toTime({ internalDate }: FetchMessageObject): number {
  const time = new Date(internalDate ?? NaN).getTime();
  return Number.isNaN(time) ? 0 : time;
}
