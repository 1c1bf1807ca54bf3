import PostalMime, { type Attachment, type Email } from 'postal-mime';
import { sha256 } from '#shared/sha256.ts';
import { readHtml } from '../../../documents/html.ts';
import type { IncomingFile, IncomingMessage } from '../../../storage/records/channel-state.ts';
import type { SentReceipt } from '../channel-adapter.ts';
import { proveSender, type SenderProof } from './authentication-results.ts';
import { isReport, readReport } from './mail-report.ts';
import { formatThread } from './mail-thread.ts';
import { findThreadKey, getDomain, parseMessageIds, toThreadKey } from './message-ids.ts';
import { readReplyText } from './reply-text.ts';

const MAX_TEXT_CHARS = 100_000;
const MAX_SUBJECT_CHARS = 300;
const MAX_NESTING = 50;
/** Number of files of a mail that are listed. */
const MAX_FILES = 20;
const ADDRESS = /^[^\s@<>()[\],;:"]+@[^\s@<>()[\],;:"]+$/;
/** Accounts of mail servers, which report returned mails. */
const ROBOT = /^(mailer-daemon|postmaster|no-?reply|do-?not-?reply|bounces?)([+-].*)?@/i;
const COMMANDS = { '!help': 'help', '!new': 'new', '!stop': 'stop' } as const;
/** Parts that belong to the mail and not to what the sender attached. */
const PARTS = /^(application\/(pgp-signature|pkcs7-signature|x-pkcs7-signature|pgp-keys)|text\/(calendar|rfc822-headers)|message\/.*)$/;

export interface MailAccount {
  address: string;
  /** Server whose `Authentication-Results` count; undefined for the topmost ones. */
  trusted: string | undefined;
}

interface MailPlace {
  uidValidity: string;
  uid: number;
  /** Milliseconds since the Unix epoch. */
  receivedAt: number;
  /** Whether the mail is larger than what was read of it. */
  isCut: boolean;
}

type ReadMail =
  | { kind: 'message'; message: IncomingMessage; proof: SenderProof }
  | { kind: 'report'; receipts: SentReceipt[] }
  /** `own`: by this account; `automatic`: by a program, or a list; `invalid`: without a single sender, or damaged. */
  | { kind: 'ignored'; reason: 'own' | 'automatic' | 'invalid' };

/** Reads a mail. Who may write is decided by the caller, by `proof`. */
export async function readMail(
  source: Uint8Array<ArrayBuffer>,
  place: MailPlace,
  account: MailAccount,
  signal: AbortSignal,
): Promise<ReadMail> {
  const mail = await PostalMime.parse(source, { maxNestingDepth: MAX_NESTING, forceRfc822Attachments: true }).catch(() => undefined);
  if (!mail) return { kind: 'ignored', reason: 'invalid' };
  if (isReport(mail)) return { kind: 'report', receipts: readReport(mail, account.address, place.receivedAt) };
  const from = findSender(mail);
  if (from === undefined) return { kind: 'ignored', reason: 'invalid' };
  if (from === account.address) return { kind: 'ignored', reason: 'own' };
  if (isAutomatic(mail, from)) return { kind: 'ignored', reason: 'automatic' };
  const proof = proveSender(getHeaders(mail, 'authentication-results'), getDomain(from), account.trusted);
  return { kind: 'message', proof, message: await toMessage(mail, { source, place, from, account, proof, signal }) };
}

/** An attachment by its number. Undefined if there is none. */
export async function readAttachment(
  source: Uint8Array<ArrayBuffer>,
  index: number,
): Promise<{ bytes: Uint8Array<ArrayBuffer>; mimeType: string } | undefined> {
  const mail = await PostalMime.parse(source, { maxNestingDepth: MAX_NESTING, forceRfc822Attachments: true });
  const attachment = mail.attachments[index];
  if (!attachment || typeof attachment.content === 'string') return undefined;
  return { bytes: new Uint8Array(attachment.content), mimeType: attachment.mimeType };
}

interface ToMessage {
  source: Uint8Array<ArrayBuffer>;
  place: MailPlace;
  from: string;
  account: MailAccount;
  proof: SenderProof;
  signal: AbortSignal;
}

async function toMessage(mail: Email, { source, place, from, account, proof, signal }: ToMessage): Promise<IncomingMessage> {
  const [messageId] = parseMessageIds(mail.messageId);
  const references = [...new Set([...parseMessageIds(mail.references), ...parseMessageIds(mail.inReplyTo)])];
  const own = references.map((id) => findThreadKey(id, account.address)).findLast((key) => key !== undefined);
  const hash = await sha256(messageId === undefined ? source : `${from} ${messageId}`);
  const key = own ?? (await toThreadKey(references[0] ?? messageId ?? hash));
  const subject = (mail.subject ?? '').replaceAll(/\s+/g, ' ').trim().slice(0, MAX_SUBJECT_CHARS);
  const { text, quotesOthers } = readReplyText(await readText(mail, signal));
  const command = findCommand(text);
  const isReply = references.length > 0;
  const files = listFiles(mail.attachments, place);
  const note = place.isCut ? '[The mail is too large. Some of its attachments are missing.]' : '';
  return {
    id: `mail:${hash.slice(0, 32)}`,
    // Bound to the sender: others who know an ID of the thread must not join the conversation.
    conversation: (await sha256(`${from} ${key}`)).slice(0, 24),
    // The display name can be chosen freely, and the list of senders is compared with names too.
    user: { id: from, name: from },
    text: [isReply || subject === '' ? '' : `Subject: ${subject}`, text, note]
      .filter((part) => part !== '')
      .join('\n\n')
      .slice(0, MAX_TEXT_CHARS),
    ...{ isPublic: false, to: from, title: `Email: ${subject === '' ? from : subject}`, at: place.receivedAt },
    // Only a mail that is certainly the sender's own words may count as the owner's.
    ...(quotesOthers || proof !== 'proven' ? { isForwarded: true } : {}),
    ...(command === undefined ? {} : { command }),
    ...(files.length > 0 ? { files } : {}),
    ...(messageId === undefined ? {} : { platformId: messageId }),
    thread: formatThread({ key, subject, references: messageId === undefined ? references : [...references, messageId] }),
  };
}

/** The only address of the only `From` header, in lower case. */
function findSender(mail: Email): string | undefined {
  if (getHeaders(mail, 'from').length !== 1 || mail.from?.group !== undefined) return undefined;
  const address = mail.from?.address?.trim().toLowerCase();
  return address !== undefined && ADDRESS.test(address) && address.length <= 200 ? address : undefined;
}

/** Whether a program or a mailing list has sent a mail: an answer could start a loop (RFC 3834), or go to many. */
function isAutomatic(mail: Email, from: string): boolean {
  const has = (name: string): boolean => getHeaders(mail, name).length > 0;
  const matches = (name: string, pattern: RegExp): boolean => getHeaders(mail, name).some((value) => pattern.test(value));
  return (
    matches('auto-submitted', /^\s*(?!no\b)\S/i) ||
    matches('precedence', /^\s*(bulk|list|junk|auto[_-]?reply)/i) ||
    matches('return-path', /^\s*<\s*>\s*$/) ||
    matches('content-type', /^\s*multipart\/report\b/i) ||
    ['list-id', 'list-unsubscribe', 'list-post', 'x-autoreply', 'x-autorespond', 'x-auto-response'].some(has) ||
    ROBOT.test(from)
  );
}

async function readText({ text, html }: Email, signal: AbortSignal): Promise<string> {
  if (text !== undefined && text.trim() !== '') return text;
  if (html === undefined) return '';
  const bytes = new TextEncoder().encode(html);
  // As Markdown: without scripts, styles, pictures and hidden parts.
  return (await readHtml({ kind: 'html', name: 'mail', bytes, charset: 'utf-8', limit: MAX_TEXT_CHARS }, signal)).text;
}

function findCommand(text: string): IncomingMessage['command'] {
  const word = text.trim().toLowerCase();
  return Object.entries(COMMANDS).find(([name]) => name === word)?.[1];
}

function listFiles(attachments: readonly Attachment[], { uidValidity, uid }: MailPlace): IncomingFile[] {
  return attachments
    .flatMap(({ filename, mimeType, disposition, related, content }, index): IncomingFile[] => {
      // Pictures of the layout and of signatures.
      const isLayout = mimeType.startsWith('image/') && (related === true || (disposition !== 'attachment' && filename === null));
      if (isLayout || PARTS.test(mimeType) || typeof content === 'string') return [];
      const kind = mimeType.startsWith('image/') ? 'image' : mimeType.startsWith('audio/') ? 'audio' : 'document';
      const name = (filename ?? `attachment ${index + 1}`).replaceAll(/[\p{Cc}/\\]/gu, '_').slice(0, 200);
      return [{ id: `${uidValidity}/${uid}/${index}`, kind, name, mimeType, size: content.byteLength }];
    })
    .slice(0, MAX_FILES);
}

const getHeaders = ({ headers }: Email, name: string): string[] => headers.filter(({ key }) => key === name).map(({ value }) => value);
