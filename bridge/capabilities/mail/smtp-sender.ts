import { Readable } from 'node:stream';
import type { MailServer, OutgoingMail } from '#shared/ports/mail-port.ts';
import { isLoopbackHost } from '../loopback-host.ts';
import { toSmtpError } from './mail-errors.ts';

const CONNECT_TIMEOUT_MS = 20_000;
/** Servers may check a mail before they accept it (RFC 5321, section 4.5.3.2.6, allows ten minutes). */
const SOCKET_TIMEOUT_MS = 120_000;

/** Builds a mail (RFC 5322, MIME). */
export async function composeMail(mail: OutgoingMail): Promise<Buffer> {
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer');
  const { messageId, from, to, subject, date, inReplyTo, references, autoSubmitted, text, html, attachments } = mail;
  return new MailComposer({
    ...{ from, to: { name: '', address: to }, subject, messageId, text, references, date: new Date(date) },
    ...(inReplyTo === undefined ? {} : { inReplyTo }),
    ...(html === undefined ? {} : { html }),
    headers: { 'Auto-Submitted': autoSubmitted },
    attachments: attachments.map(({ name, mimeType, content }) => ({
      ...{ filename: name, contentType: mimeType, content: Buffer.from(content, 'base64') },
    })),
    // Texts come from models: nothing in them is read from files or the network.
    ...{ disableFileAccess: true, disableUrlAccess: true },
  })
    .compile()
    .build();
}

/** Signs in to a server, and sends `mail` with its source if there is one. Rejects with an `RpcError`. */
export async function sendBySmtp(
  server: MailServer,
  signal: AbortSignal,
  outgoing?: { mail: OutgoingMail; source: Buffer },
): Promise<{ response: string }> {
  const { default: SMTPConnection } = await import('nodemailer/lib/smtp-connection');
  const { host, port, security, user, secret, method } = server;
  const isLocal = isLoopbackHost(host);
  const connection = new SMTPConnection({
    ...{ host, port, secure: security === 'tls', logger: false },
    ...(security === 'starttls' && !isLocal ? { requireTLS: true } : {}),
    ...(isLocal ? { tls: { rejectUnauthorized: false }, opportunisticTLS: true } : {}),
    ...{ connectionTimeout: CONNECT_TIMEOUT_MS, greetingTimeout: CONNECT_TIMEOUT_MS, socketTimeout: SOCKET_TIMEOUT_MS },
  });
  const source = outgoing && Readable.from([outgoing.source]);
  let mayBeSent = false;
  source?.once('end', () => (mayBeSent = true));
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {});
  connection.on('error', (error) => failed.reject(error));
  connection.once('end', () => failed.reject(new Error('The connection was closed.')));
  const abort = (): void => {
    failed.reject(signal.reason as Error);
    connection.close();
  };
  signal.addEventListener('abort', abort, { once: true });
  const run = <T>(start: (done: (error?: Error | null, result?: T) => void) => void): Promise<T | undefined> => {
    const step = Promise.withResolvers<T | undefined>();
    start((error, result) => (error ? step.reject(error) : step.resolve(result)));
    return Promise.race([step.promise, failed.promise]);
  };
  try {
    signal.throwIfAborted();
    await run((done) => connection.connect(done));
    if (connection.allowsAuth || !isLocal) {
      const auth = method === 'xoauth2' ? { oauth2: await createToken(user, secret) } : { credentials: { user, pass: secret } };
      await run((done) => connection.login(auth, done));
    }
    if (!outgoing || !source) return { response: '' };
    const { mail } = outgoing;
    const envelope = {
      ...{ from: mail.from.address, to: [mail.to], size: outgoing.source.length },
      dsn: { id: mail.messageId, ret: 'HDRS', notify: mail.reports === 'all' ? 'SUCCESS,FAILURE' : 'FAILURE', orcpt: `rfc822;${mail.to}` },
    };
    const info = await run<{ response?: string }>((done) => connection.send(envelope, source, done));
    return { response: info?.response ?? '' };
  } catch (error) {
    if (!mayBeSent) signal.throwIfAborted();
    throw toSmtpError(error, server, mayBeSent);
  } finally {
    signal.removeEventListener('abort', abort);
    source?.destroy();
    connection.quit();
    // The server may keep the connection open.
    setTimeout(() => connection.close(), 2_000).unref();
  }
}

async function createToken(user: string, accessToken: string) {
  const { default: XOAuth2 } = await import('nodemailer/lib/xoauth2');
  return new XOAuth2({ user, accessToken });
}
