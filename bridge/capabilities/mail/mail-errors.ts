import type { MailFault, MailServer } from '#shared/ports/mail-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { describeCertificateFault } from '../../certificate-fault.ts';
import { describeUnreachable } from '../unreachable-host.ts';

const NO_TLS_CODES = new Set(['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG', 'UPGRADE_TIMEOUT']);
/** Codes of IMAP (RFC 5530) and enhanced SMTP statuses (RFC 3463) for a full mailbox. */
const QUOTA = /\bOVERQUOTA\b|\b[45]\.2\.2\b|quota|mailbox (is )?full/i;
const MAX_RESPONSE_CHARS = 300;
/** Providers lock accounts with many failed attempts. */
const SIGN_IN_RETRY_MS = 5 * 60_000;

/** Members of the errors of imapflow and nodemailer. */
interface LibraryError {
  code: string;
  message: string;
  /** Response of the server; empty if there is none. */
  response: string;
  /** Status of an SMTP response; 0 if there is none. */
  status: number;
  /** The failed command, such as `RCPT TO`. */
  command: string;
  isSignIn: boolean;
  isTls: boolean;
}

const createMailError = (message: string, fault: MailFault): RpcError =>
  new RpcError('INTERNAL_ERROR', message, { details: { ...fault }, retryable: !fault.refused });

/** An IMAP error as one for the caller. Nothing is sent by IMAP. */
export function toImapError(error: unknown, server: MailServer, folder?: string): RpcError {
  if (error instanceof RpcError) return error;
  const read = readError(error);
  const known = toConnectionError(read, server, 'IMAP');
  if (known) return known;
  const isFolder =
    error instanceof Error && (('mailboxMissing' in error && error.mailboxMissing === true) || /NONEXISTENT|TRYCREATE/.test(read.response));
  if (isFolder && folder !== undefined) return createMissingFolderError(folder);
  const fault = { isUnsent: true, refused: false };
  if (read.response !== '') return createServerError(read.response);
  return createMailError(`The connection to ${getName(server)} was lost.`, { ...fault, reason: 'lost' });
}

/** The mail server refuses a command that it should carry out. */
export const createServerError = (said = ''): RpcError =>
  createMailError(`The mail server reported an error${said === '' ? '.' : `: ${said}`}`, {
    reason: 'busy',
    isUnsent: true,
    refused: false,
  });

const createMissingFolderError = (folder: string): RpcError =>
  createMailError(`The folder "${folder}" doesn’t exist in the mailbox. Check its name.`, {
    reason: 'folder',
    isUnsent: true,
    refused: false,
  });

/** An SMTP error as one for the caller. `mayBeSent`: whether the whole mail was given to the connection. */
export function toSmtpError(error: unknown, server: MailServer, mayBeSent: boolean): RpcError {
  if (error instanceof RpcError) return error;
  const read = readError(error);
  const { status, response, code, command } = read;
  if (status >= 400 && !read.isSignIn && !read.isTls) {
    const isPermanent = status >= 500;
    // Before the recipient is named, the whole account is refused: the owner may mend that.
    const refused = isPermanent && /^(MAIL FROM|RCPT TO|DATA)$/.test(command);
    if (QUOTA.test(response))
      return createMailError(`The mailbox or the sending quota is full: ${response}`, { reason: 'quota', isUnsent: true, refused });
    const sentence = isPermanent ? 'The mail server rejected the mail' : 'The mail server can’t take the mail now';
    return createMailError(`${sentence}: ${response}`, { reason: isPermanent ? 'rejected' : 'busy', isUnsent: true, refused });
  }
  if (!mayBeSent) {
    const known = toConnectionError(read, server, 'SMTP');
    if (known) return known;
    if (code === 'EMESSAGE')
      return createMailError('The mail is larger than the mail server allows.', { reason: 'rejected', isUnsent: true, refused: true });
    if (code === 'EENVELOPE')
      return createMailError('The recipient’s address is not valid.', { reason: 'rejected', isUnsent: true, refused: true });
  }
  return createMailError(`The connection to ${getName(server)} was lost.`, { reason: 'lost', isUnsent: !mayBeSent, refused: false });
}

/** Problems before any mail is read or sent. */
function toConnectionError(error: LibraryError, server: MailServer, protocol: 'IMAP' | 'SMTP'): RpcError | undefined {
  const fault = { isUnsent: true, refused: false };
  const name = getName(server);
  const certificate = describeCertificateFault(error.code);
  if (certificate !== undefined)
    return createMailError(`The certificate of ${name} ${certificate} (${error.code}).`, { ...fault, reason: 'tls' });
  if (error.isSignIn) {
    const hint =
      server.method === 'xoauth2'
        ? 'Enter a new access token.'
        : 'Check both. Many providers need an app password instead of the account’s password.';
    const said = error.response === '' ? '' : ` (${error.response})`;
    return createMailError(`${name} rejected the user name or the password${said}. ${hint}`, {
      ...{ ...fault, reason: 'sign-in', retryAfterMs: SIGN_IN_RETRY_MS },
    });
  }
  if (NO_TLS_CODES.has(error.code) || error.isTls)
    return createMailError(
      server.security === 'tls'
        ? `${name} doesn’t use TLS from the start. Check the port: ${protocol} with TLS is usually at ${protocol === 'IMAP' ? 993 : 465}.`
        : `${name} doesn’t offer STARTTLS, and Perch doesn’t send passwords without encryption. Try port ${protocol === 'IMAP' ? 993 : 465}.`,
      { ...fault, reason: 'tls' },
    );
  const problem = describeUnreachable(error.code);
  return problem === undefined
    ? undefined
    : createMailError(`Couldn’t reach ${name}: ${problem}. Check the server’s name and port.`, { ...fault, reason: 'unreachable' });
}

const getName = ({ host, port }: MailServer): string => `${host}:${port}`;

function readError(error: unknown): LibraryError {
  const members: Record<string, unknown> = error instanceof Error ? { ...error, message: error.message } : {};
  const getText = (name: string): string => {
    const value = members[name];
    return typeof value === 'string' ? value.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_RESPONSE_CHARS) : '';
  };
  const status = members['responseCode'];
  const code = findCode(error);
  const response = getText('responseText') || getText('response');
  const message = getText('message');
  return {
    ...{ code, message, command: getText('command') },
    response: response === '' ? getText('serverResponseCode') : response,
    status: typeof status === 'number' ? status : 0,
    isSignIn: members['authenticationFailed'] === true || code === 'EAUTH',
    isTls: members['tlsFailed'] === true || code === 'ETLS' || /STARTTLS/.test(message),
  };
}

/** The code of a socket's error: nodemailer keeps it apart from its own. */
function findCode(error: unknown): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  if (!(first instanceof Error)) return '';
  const code = 'originalCode' in first ? first.originalCode : 'code' in first ? first.code : '';
  return typeof code === 'string' ? code : '';
}
