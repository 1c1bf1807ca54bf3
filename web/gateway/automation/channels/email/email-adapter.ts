import { fromBase64 } from '#shared/base64.ts';
import { mailPort, type MailPosition, mailPosition, type MailServer, type OutgoingMail } from '#shared/ports/mail-port.ts';
import { sha256 } from '#shared/sha256.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { EmailSettings } from '../../../config/sections/channel-settings.ts';
import type { Bridge } from '../../../ports/bridge-interface.ts';
import type { IncomingFile, IncomingMessage, PendingMessage } from '../../../storage/records/channel-state.ts';
import type { ChannelAdapter, FilePart, PollContext, PollResult, Post, SendContext, SentReceipt } from '../channel-adapter.ts';
import { toMessageHtml } from '../markdown-html.ts';
import { PlatformError } from '../platform-request.ts';
import { canWrite } from '../senders.ts';
import { splitText } from '../split-text.ts';
import { findKnownServer } from './authentication-results.ts';
import { type MailAccount, readAttachment, readMail } from './incoming-mail.ts';
import { callPlatformPort } from '../platform-port.ts';
import { limitReferences, type MailThread, parseThread, toReplySubject } from './mail-thread.ts';
import { type MailProtocol, parseMailServer } from './mail-servers.ts';
import { createMessageId, toThreadKey } from './message-ids.ts';

/** Longer texts are sent as several mails. */
const MAX_CHARS = 200_000;
const MAX_SUBJECT_CHARS = 120;
const DEFAULT_CHECK_SECONDS = 120;
const MAX_CHECK_SECONDS = 600;
/** Interval of sign-ins to the SMTP server while it rejects them. */
const VERIFY_INTERVAL_MS = 10 * 60_000;
const ADDRESS = /^[^\s@<>]+@[^\s@<>]+$/;
const TO_DECIDE = 'To decide, open Perch and go to Automations → Approvals. Replies to this mail decide nothing.';
/** Known senders’ mails come without a result that counts. */
const toMissingProblem = (trusted: string | undefined): string =>
  trusted === undefined
    ? NO_RESULTS
    : `Mails have no Authentication-Results header of ${trusted}, so they are ignored. Check channels.email.trustedServer.`;
const NO_TRUSTED_SERVER =
  'All mails are ignored until you set channels.email.trustedServer: Perch doesn’t know yet which server’s checks of senders it can trust.';
const NO_RESULTS =
  'The mail server doesn’t say whether senders are genuine (no Authentication-Results header), so their mails are ignored. Set up DKIM and DMARC checks there, or use another provider.';

interface EmailAdapterDeps {
  bridge: Bridge;
  clock: Clock;
  password: string;
  /** The current settings. */
  settings(): EmailSettings;
  /** Writes a line to the log. */
  note(message: string, fields: Record<string, unknown>): void;
}

type IgnoredReason = 'own' | 'automatic' | 'invalid' | 'unverified' | 'unknown';

/** E-mail by IMAP and SMTP, through the bridge. */
export class EmailAdapter implements ChannelAdapter {
  readonly name = 'Email';
  readonly minRetryMs = 15_000;
  readonly help =
    'Hello! Send me a mail and an agent replies. Each subject is a chat of its own. A mail with just !stop stops the current reply.';
  readonly #deps: EmailAdapterDeps;
  /** Whether the last poll succeeded: the next one may wait for mail. */
  #isHealthy = false;
  #verified: { at: number; problem: string | undefined } | undefined;
  #sourceProblem: string | undefined;

  constructor(deps: EmailAdapterDeps) {
    this.#deps = deps;
  }

  async poll({ cursors, signal }: PollContext): Promise<PollResult> {
    const isHealthy = this.#isHealthy;
    this.#isHealthy = false;
    const { folder, pollIntervalSeconds } = this.#deps.settings();
    const server = this.#getServer('imap');
    await this.#verifySending(signal);
    // A position in another mailbox is of no use.
    const mailbox = await sha256(JSON.stringify([server.host, server.user, folder]));
    const after = cursors['mailbox'] === mailbox ? parsePosition(cursors['position']) : null;
    const waitSeconds = Math.min(pollIntervalSeconds ?? DEFAULT_CHECK_SECONDS, MAX_CHECK_SECONDS);
    // The first poll, and the one after a failure, does not wait, to report the status soon.
    const waitMs = isHealthy && after !== null ? waitSeconds * 1000 : 0;
    const { position, mails } = await callPlatformPort(this.#deps.bridge, mailPort, 'mail.poll', { server, folder, after, waitMs }, signal);
    const messages: IncomingMessage[] = [];
    const receipts: SentReceipt[] = [];
    const ignored = new Map<IgnoredReason, number>();
    for (const { uid, receivedAt, source, isCut } of mails) {
      const place = { uid, receivedAt, isCut, uidValidity: position.uidValidity };
      const read = await readMail(fromBase64(source), place, this.#getAccount(), signal);
      if (read.kind === 'report') receipts.push(...read.receipts);
      const reason = read.kind === 'ignored' ? read.reason : read.kind === 'message' ? this.#findReason(read) : undefined;
      if (reason !== undefined) ignored.set(reason, (ignored.get(reason) ?? 0) + 1);
      else if (read.kind === 'message') messages.push(read.message);
    }
    const ignoredCount = [...ignored.values()].reduce((sum, count) => sum + count, Number(cursors['ignored'] ?? 0));
    if (ignored.size > 0) this.#deps.note('Ignored mails', { ...Object.fromEntries(ignored), total: ignoredCount });
    this.#isHealthy = true;
    const problem = this.#verified?.problem ?? (this.#isAnyoneBelieved() ? this.#sourceProblem : NO_TRUSTED_SERVER);
    return {
      ...{ messages, receipts, nextMs: 0 },
      cursors: { mailbox, position: JSON.stringify(position), ignored: String(ignoredCount) },
      ...(problem === undefined ? {} : { problem }),
    };
  }

  split(text: string): string[] {
    return splitText(text, MAX_CHARS);
  }

  async send(message: PendingMessage, part: string, { sent, signal }: SendContext): Promise<string> {
    const thread = await this.#getThread(message);
    const piece = `${message.id}/${sent.length}`;
    return this.#sendMail(await this.#toReply(message, thread, piece, part), signal);
  }

  async findSent(message: PendingMessage, _part: string, { sent, signal }: SendContext): Promise<string | undefined> {
    const { key } = await this.#getThread(message);
    return this.#find(await this.#createId(`${message.id}/${sent.length}`, key), signal);
  }

  async post(post: Post, part: string, { sent, signal }: SendContext): Promise<string> {
    const messageId = await this.#getPostId(post, sent.length);
    // Approvals are never decided by mail.
    const text = post.buttons && post.buttons.length > 0 ? `${part}\n\n${TO_DECIDE}` : part;
    const mail = this.#compose({ messageId, to: post.to, subject: toSubject(part), text, reports: 'all' });
    const [first] = sent;
    return this.#sendMail(first === undefined ? mail : { ...mail, inReplyTo: first, references: [first] }, signal);
  }

  async findPosted(post: Post, _part: string, { sent, signal }: SendContext): Promise<string | undefined> {
    return this.#find(await this.#getPostId(post, sent.length), signal);
  }

  async sendFile(message: PendingMessage, file: FilePart, signal: AbortSignal): Promise<void> {
    const thread = await this.#getThread(message);
    const mail = await this.#toReply(message, thread, crypto.randomUUID(), file.filename ?? 'file');
    await this.#sendMail(attach(mail, file), signal);
  }

  async postFile(post: Post, file: FilePart, signal: AbortSignal): Promise<void> {
    const name = file.filename ?? 'file';
    const messageId = await this.#createId(crypto.randomUUID(), await toThreadKey(post.id));
    await this.#sendMail(attach(this.#compose({ messageId, to: post.to, subject: name, text: name, reports: 'failure' }), file), signal);
  }

  async fetchFile({ id }: IncomingFile, signal: AbortSignal): Promise<{ bytes: Uint8Array<ArrayBuffer>; mimeType: string }> {
    const [uidValidity = '', uid, index] = id.split('/');
    const params = { server: this.#getServer('imap'), folder: this.#deps.settings().folder, uidValidity, uid: Number(uid) };
    const { source } = await callPlatformPort(this.#deps.bridge, mailPort, 'mail.fetch', params, signal);
    const attachment = await readAttachment(fromBase64(source), Number(index));
    if (!attachment) throw new PlatformError('The mail has no such attachment.', { refused: true });
    return attachment;
  }

  get #address(): string {
    const { address } = this.#deps.settings();
    if (address === undefined) throw new PlatformError('channels.email.address is not set.', { isUnsent: true });
    return address;
  }

  #getAccount(): MailAccount {
    const { trustedServer } = this.#deps.settings();
    return { address: this.#address, trusted: trustedServer ?? findKnownServer(this.#getServer('imap').host) };
  }

  /** Whether there is a server whose word about senders counts. */
  #isAnyoneBelieved(): boolean {
    return this.#getAccount().trusted !== undefined || this.#deps.settings().trustAnyServer === true;
  }

  /** Why a mail is ignored; undefined if it is not. Nobody is told, since the sender may be forged. */
  #findReason({ message, proof }: Extract<Awaited<ReturnType<typeof readMail>>, { kind: 'message' }>): IgnoredReason | undefined {
    const settings = this.#deps.settings();
    const isKnown = canWrite(settings, message);
    if (proof === 'missing' && isKnown) this.#sourceProblem = toMissingProblem(this.#getAccount().trusted);
    if (proof === 'failed' || proof === 'missing' || !this.#isAnyoneBelieved()) return 'unverified';
    this.#sourceProblem = undefined;
    return isKnown || settings.sendCodes === true ? undefined : 'unknown';
  }

  /** Checks that mail can be sent, so that a wrong setting shows at once and not with the first answer. */
  async #verifySending(signal: AbortSignal): Promise<void> {
    const { clock, bridge } = this.#deps;
    if (this.#verified && (this.#verified.problem === undefined || clock.now() - this.#verified.at < VERIFY_INTERVAL_MS)) return;
    const server = this.#getServer('smtp');
    try {
      await callPlatformPort(bridge, mailPort, 'mail.verify', { server }, signal);
      this.#verified = { at: clock.now(), problem: undefined };
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error;
      this.#verified = { at: clock.now(), problem: `Mails can’t be sent: ${error.message}` };
    }
  }

  #getServer(protocol: MailProtocol): MailServer {
    const { user = this.#address, signIn, imapHost = '', smtpHost = '' } = this.#deps.settings();
    const server = parseMailServer(protocol === 'imap' ? imapHost : smtpHost, protocol);
    const path = `channels.email.${protocol}Host`;
    if (!server) throw new PlatformError(`${path} is not the name of a server, such as ${protocol}.example.org.`, { isUnsent: true });
    return { ...server, user, secret: this.#deps.password, method: signIn };
  }

  /** The thread of a message; a new one for those of older builds. */
  async #getThread({ thread, id }: PendingMessage): Promise<MailThread> {
    return parseThread(thread) ?? { key: await toThreadKey(id), subject: '', references: [] };
  }

  async #toReply({ to, platformId }: PendingMessage, thread: MailThread, piece: string, text: string): Promise<OutgoingMail> {
    const messageId = await this.#createId(piece, thread.key);
    return {
      ...this.#compose({ messageId, to, subject: toReplySubject(thread.subject), text, reports: 'failure' }),
      ...{ autoSubmitted: 'auto-replied', references: limitReferences(thread.references) },
      ...(platformId === undefined ? {} : { inReplyTo: platformId }),
    };
  }

  #compose({ text, to, ...mail }: Pick<OutgoingMail, 'messageId' | 'to' | 'subject' | 'text' | 'reports'>): OutgoingMail {
    const { senderName = '' } = this.#deps.settings();
    if (!ADDRESS.test(to)) throw new PlatformError(`"${to}" is not an e-mail address.`, { isUnsent: true, refused: true });
    return {
      ...{ ...mail, to, text, html: toMessageHtml(text), from: { name: senderName, address: this.#address }, date: this.#deps.clock.now() },
      ...{ autoSubmitted: 'auto-generated', references: [], attachments: [] },
    };
  }

  async #sendMail(mail: OutgoingMail, signal: AbortSignal): Promise<string> {
    const [server, copyTo] = [this.#getServer('smtp'), this.#getServer('imap')];
    await callPlatformPort(this.#deps.bridge, mailPort, 'mail.send', { server, copyTo, mail }, signal);
    return mail.messageId;
  }

  /** Undefined if it is not found: not every server files what it has sent, so nothing proves that it was not. */
  async #find(messageId: string, signal: AbortSignal): Promise<string | undefined> {
    const { isFound } = await callPlatformPort(
      this.#deps.bridge,
      mailPort,
      'mail.find',
      { server: this.#getServer('imap'), messageId },
      signal,
    );
    return isFound ? messageId : undefined;
  }

  #createId(piece: string, threadKey: string): Promise<string> {
    return createMessageId(piece, threadKey, this.#address);
  }

  async #getPostId({ id }: Post, index: number): Promise<string> {
    return this.#createId(`${id}/${index}`, await toThreadKey(id));
  }
}

const attach = (mail: OutgoingMail, { filename: name = 'file', mimeType, data }: FilePart): OutgoingMail => ({
  ...mail,
  attachments: [{ name, mimeType, content: data }],
});

/** The first line, without Markdown. */
function toSubject(text: string): string {
  const line =
    text
      .trim()
      .split('\n', 1)[0]
      ?.replaceAll(/[*_`#]+/g, '')
      .trim() ?? '';
  return line.length <= MAX_SUBJECT_CHARS ? line : `${line.slice(0, MAX_SUBJECT_CHARS - 1)}…`;
}

function parsePosition(text: string | undefined): MailPosition | null {
  if (text === undefined) return null;
  try {
    return mailPosition.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
