import { lookup } from 'node:dns/promises';
import { hostname } from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import type { MailPosition, MailServer, OutgoingMail } from '#shared/ports/mail-port.ts';
import type { RpcError } from '#shared/rpc/rpc-error.ts';
import { startImapServer } from '../../../tests/support/imap-server.ts';
import { startSmtpServer } from '../../../tests/support/smtp-server.ts';
import { createMailCapability } from './mail-handlers.ts';

const ACCOUNT = { user: 'perch@example.org', password: 'app password', token: 'token-1' };
const signal = new AbortController().signal;
const call = { signal, send: () => {} };
const toServer = (port: number, more: Partial<MailServer> = {}): MailServer => ({
  ...{ host: '127.0.0.1', port, security: 'starttls', user: ACCOUNT.user, secret: ACCOUNT.password, method: 'password' },
  ...more,
});
const MAIL: OutgoingMail = {
  ...{ messageId: '<perch.1@example.org>', from: { name: 'Perch', address: ACCOUNT.user }, to: 'ada@example.com', subject: 'Grüße' },
  ...{
    date: Date.UTC(2026, 10, 30),
    references: [],
    autoSubmitted: 'auto-generated',
    text: 'Hello',
    html: '<p>Hello</p>',
    attachments: [],
  },
  reports: 'all',
};
const toMail = (id: string, text = 'Hi'): string => `From: ada@example.com\r\nMessage-ID: <${id}@example.com>\r\n\r\n${text}\r\n`;

const cleanups: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start() {
  const [imap, smtp] = [await startImapServer(ACCOUNT), await startSmtpServer({ ...ACCOUNT, maxSize: 100_000 })];
  const lines: string[] = [];
  const mail = createMailCapability({ log: (line) => lines.push(line) });
  cleanups.push(imap.stop, smtp.stop, () => mail.close());
  const server = toServer(imap.port);
  const poll = (after: MailPosition | null, waitMs = 0, more: Partial<MailServer> = {}, folder = 'INBOX') =>
    mail.handlers['mail.poll']({ server: { ...server, ...more }, folder, after, waitMs }, call);
  const send = (changes: Partial<OutgoingMail> = {}, more: Partial<MailServer> = {}) =>
    mail.handlers['mail.send']({ server: toServer(smtp.port, more), copyTo: server, mail: { ...MAIL, ...changes } }, call);
  const toIds = (mails: readonly { source: string }[]): string[] =>
    mails.map(({ source }) => /Message-ID: <(\w+)/.exec(Buffer.from(source, 'base64').toString())?.[1] ?? '');
  return { imap, smtp, mail, lines, server, poll, send, toIds };
}

const fails = (promise: Promise<unknown>): Promise<RpcError> =>
  promise.then(
    () => Promise.reject(new Error('it did not fail')),
    (error: RpcError) => error,
  );

describe('reading mail', () => {
  it('starts after the mails that are there, and reads each later one once, in order', async () => {
    const { imap, poll, toIds } = await start();
    imap.add('INBOX', toMail('old'));
    const first = await poll(null);
    expect(first.mails).toEqual([]);
    for (let number = 1; number <= 25; number++) imap.add('INBOX', toMail(`m${number}`));
    const second = await poll(first.position);
    expect(toIds(second.mails)).toEqual(Array.from({ length: 20 }, (_, index) => `m${index + 1}`));
    expect(second.hasMore).toBe(true);
    const third = await poll(second.position);
    expect(toIds(third.mails)).toEqual(['m21', 'm22', 'm23', 'm24', 'm25']);
    const fourth = await poll(third.position);
    expect(fourth).toEqual({ position: third.position, mails: [], hasMore: false });
    expect(imap.commands.filter((name) => name === 'AUTHENTICATE' || name === 'LOGIN')).toHaveLength(1);
  });

  it('waits for mail by IDLE, over one connection', async () => {
    const { imap, poll, toIds } = await start();
    const { position } = await poll(null);
    const waiting = poll(position, 60_000);
    await expect.poll(() => imap.isIdle()).toBe(true);
    imap.add('INBOX', toMail('new'));
    const found = await waiting;
    expect(toIds(found.mails)).toEqual(['new']);
    const again = poll(found.position, 60_000);
    await expect.poll(() => imap.isIdle()).toBe(true);
    imap.add('INBOX', toMail('newer'));
    expect(toIds((await again).mails)).toEqual(['newer']);
  });

  it('connects again if the connection is lost while it waits, and loses no mail', async () => {
    const { imap, poll, toIds } = await start();
    const { position } = await poll(null);
    const waiting = poll(position, 60_000);
    await expect.poll(() => imap.isIdle()).toBe(true);
    imap.dropAll();
    imap.add('INBOX', toMail('meanwhile'));
    const { mails, position: next } = await waiting;
    expect(toIds(mails)).toEqual(['meanwhile']);
    imap.fault = () => 'drop';
    expect((await fails(poll(next))).extra.details).toMatchObject({ reason: 'lost', isUnsent: true });
  });

  it('goes on by time of arrival when UIDVALIDITY changes', async () => {
    const { imap, poll, toIds } = await start();
    const hour = 3_600_000;
    const now = Date.now();
    imap.add('INBOX', toMail('old'), now - 50 * hour);
    imap.add('INBOX', toMail('yesterday'), now - 20 * hour);
    const { position } = await poll(null);
    imap.add('INBOX', toMail('first'), now + hour);
    const read = await poll(position);
    expect(toIds(read.mails)).toEqual(['first']);
    imap.add('INBOX', toMail('second'), now + 2 * hour);
    imap.renumber('INBOX');
    imap.dropAll();
    const after = await poll(read.position);
    // The last one comes again, since its time is the position; the channel recognizes it.
    expect(toIds(after.mails)).toEqual(['first', 'second']);
    expect(after.position.uidValidity).toBe('2');
    expect(toIds((await poll(after.position)).mails)).toEqual([]);
  });

  it('cuts off a large mail', async () => {
    const { imap, poll } = await start();
    const { position } = await poll(null);
    imap.add('INBOX', toMail('large', 'x'.repeat(16 * 1024 * 1024)));
    imap.add('INBOX', toMail('small'));
    const { mails, position: next } = await poll(position);
    expect(mails.map(({ isCut }) => isCut)).toEqual([true]);
    expect((await poll(next)).mails.map(({ isCut }) => isCut)).toEqual([false]);
  });

  it('explains a wrong password, a missing folder, and a server that is off', async () => {
    const { imap, poll } = await start();
    const wrong = await fails(poll(null, 0, { secret: 'wrong' }));
    expect(wrong.message).toMatch(/rejected the user name or the password.*app password/);
    expect(wrong.extra.details).toMatchObject({ reason: 'sign-in' });
    expect((await fails(poll(null, 0, {}, 'Nowhere'))).message).toBe('The folder "Nowhere" doesn’t exist in the mailbox. Check its name.');
    expect((await fails(poll(null, 0, { port: 1 }))).message).toContain('connection refused');
    expect((await fails(poll(null, 0, { host: 'mail.invalid' }))).message).toMatch(/host (not found|name couldn’t be looked up)/);
    const plain = await fails(poll(null, 0, { security: 'tls' }));
    expect(plain.message).toMatch(/doesn’t use TLS from the start/);
    imap.fault = (command) => (command === 'UID SEARCH' ? 'no' : undefined);
    const { position } = await poll(null);
    expect((await fails(poll(position))).message).toBe('The mail server reported an error.');
  });

  it('signs in with an access token', async () => {
    const { poll } = await start();
    expect((await poll(null, 0, { method: 'xoauth2', secret: ACCOUNT.token })).mails).toEqual([]);
    expect((await fails(poll(null, 0, { method: 'xoauth2', secret: 'old' }))).message).toContain('Enter a new access token.');
  });
});

describe('sending mail', () => {
  it('sends, asks for reports, and files a copy that can be found', async () => {
    const { imap, smtp, mail, server, send } = await start();
    await send();
    expect(smtp.sent).toMatchObject([
      { from: ACCOUNT.user, to: ['ada@example.com'], envid: MAIL.messageId, notify: ['SUCCESS', 'FAILURE'] },
    ]);
    expect(smtp.sent[0]?.source).toMatch(/^Message-ID: <perch\.1@example\.org>\r$/m);
    expect(smtp.sent[0]?.source).toMatch(/^Auto-Submitted: auto-generated\r$/m);
    await expect.poll(() => imap.mails('Sent')).toHaveLength(1);
    const find = (messageId: string) => mail.handlers['mail.find']({ server, messageId }, call);
    expect(await find(MAIL.messageId)).toEqual({ isFound: true });
    expect(await find('<other@example.org>')).toEqual({ isFound: false });
  });

  it('tells what certainly was not sent from what may have been', async () => {
    const { smtp, send } = await start();
    const once = (fault: NonNullable<ReturnType<typeof smtp.fault>>): void => void (smtp.fault = () => fault);
    once({ cut: 'accepted' });
    const lost = await fails(send());
    expect(lost.extra.details).toMatchObject({ reason: 'lost', isUnsent: false, refused: false });
    expect(smtp.sent).toHaveLength(1);
    once({ step: 'rcpt', code: 451, text: '4.7.1 Greylisted, try again' });
    expect((await fails(send())).extra.details).toMatchObject({ reason: 'busy', isUnsent: true, refused: false });
    once({ step: 'rcpt', code: 550, text: '5.1.1 No such user' });
    const refused = await fails(send());
    expect(refused.message).toContain('No such user');
    expect(refused.extra.details).toMatchObject({ reason: 'rejected', isUnsent: true, refused: true });
    once({ step: 'data', code: 552, text: '5.2.2 Mailbox full' });
    expect((await fails(send())).extra.details).toMatchObject({ reason: 'quota', refused: true });
    smtp.fault = () => undefined;
    const large = await fails(send({ text: 'x'.repeat(200_000) }));
    expect(large.message).toBe('The mail is larger than the mail server allows.');
    expect((await fails(send({}, { secret: 'wrong' }))).extra.details).toMatchObject({ reason: 'sign-in', isUnsent: true, refused: false });
    expect((await fails(send({}, { port: 1 }))).extra.details).toMatchObject({ reason: 'unreachable', isUnsent: true });
    expect(smtp.sent).toHaveLength(1);
  });

  it('trusts no certificate that a server has made itself, unless the server is on this computer', async (context) => {
    const { address } = await lookup(hostname(), 4).catch(() => ({ address: '' }));
    if (!address.startsWith('127.')) context.skip('The name of this computer is not one of its own addresses.');
    const { send } = await start();
    const smtp = await startSmtpServer({ ...ACCOUNT, secure: true, host: address });
    cleanups.push(smtp.stop);
    const fault = await fails(send({}, { port: smtp.port, host: hostname(), security: 'tls' }));
    expect(fault.message).toMatch(/certificate .* (is not trusted|has expired|is for another host name)/);
    expect(fault.extra.details).toMatchObject({ reason: 'tls', isUnsent: true });
    await send({}, { port: smtp.port, host: address, security: 'tls' });
    expect(smtp.sent).toHaveLength(1);
    const plain = await fails(send({}, { host: hostname() }));
    expect(plain.message).toMatch(/doesn’t offer STARTTLS/);
  });

  it('signs in with an access token', async () => {
    const { smtp, send } = await start();
    await send({}, { method: 'xoauth2', secret: ACCOUNT.token });
    expect(smtp.sent).toHaveLength(1);
  });
});
