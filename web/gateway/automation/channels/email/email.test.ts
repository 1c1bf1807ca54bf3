import { describe, expect } from 'vitest';
import { mailPort } from '#shared/ports/mail-port.ts';
import { createMailCapability } from '../../../../../bridge/capabilities/mail/mail-handlers.ts';
import { verifies } from '../../../../../tests/requirements.ts';
import { createChannelGateway, egressCapability } from '../../../../../tests/support/channel-gateway.ts';
import { createCapability, FakeBridge } from '../../../../../tests/support/fake-bridge.ts';
import { startImapServer } from '../../../../../tests/support/imap-server.ts';
import { startSmtpServer } from '../../../../../tests/support/smtp-server.ts';
import { FakeClock } from '../../../../../tests/support/fake-clock.ts';
import type { Say } from '../../../../../tests/support/test-gateway.ts';
import type { Bridge } from '../../../ports/bridge-interface.ts';
import { EmailAdapter } from './email-adapter.ts';

const ACCOUNT = { user: 'perch@example.org', password: 'app password' };

/** Repeats the message. */
const echoScript = ({ body: { messages } }: { body: { messages: { content: unknown }[] } }): Say[] => [
  `You said: ${String(messages.at(-1)?.content)}\n\n**Bye**`,
];

interface TestMail {
  id: string;
  from?: string;
  subject?: string;
  text?: string;
  headers?: string[];
  /** Results of the receiving server. */
  results?: string | null;
}

function toSource({
  id,
  from = 'Ada <ada@example.com>',
  subject = 'Tides',
  text = 'High water?',
  headers = [],
  results,
}: TestMail): string {
  const domain = /@([\w.]+)/.exec(from)?.[1] ?? '';
  const checked = results === null ? [] : [`Authentication-Results: ${results ?? `mx.example.org; dmarc=pass header.from=${domain}`}`];
  return [
    ...checked,
    `From: ${from}`,
    `To: ${ACCOUNT.user}`,
    `Subject: ${subject}`,
    `Message-ID: <${id}@example.com>`,
    ...headers,
    '',
    text,
  ].join('\r\n');
}

/** Mail servers, and a gateway that uses them through the bridge's capability. */
async function createEmailGateway(settings: Record<string, unknown> = {}) {
  const [imap, smtp] = [await startImapServer(ACCOUNT), await startSmtpServer(ACCOUNT)];
  const mail = createMailCapability({ log: () => {} });
  const email = {
    ...{
      enabled: true,
      address: ACCOUNT.user,
      password: ACCOUNT.password,
      trustedServer: 'mx.example.org',
      allowedUsers: ['ada@example.com'],
    },
    ...{ imapHost: `imap://127.0.0.1:${imap.port}`, smtpHost: `smtp://127.0.0.1:${smtp.port}` },
    ...settings,
  };
  const bridge = new FakeBridge(egressCapability, createCapability(mailPort, mail.handlers));
  const gw = await createChannelGateway({ email }, { model: echoScript, bridge });
  const { client } = await gw.client();
  const status = () => gw.status('email');
  const passes = (condition: () => boolean | Promise<boolean>, label?: string) => gw.advanceUntil(condition, label, 100);
  return {
    ...{ imap, smtp, gw, client, status, passes },
    runs: () => passes(async () => (await status()).metrics?.connected_since != null && imap.isIdle(), 'it waits for mail'),
    settles: () => passes(async () => (await gw.vault.collection('channelStates').get('email'))?.pending.length === 0, 'no message waits'),
    receive: (test: TestMail) => imap.add('INBOX', toSource(test)),
    header: (index: number, name: string) =>
      new RegExp(`^${name}: (.*(?:\\r\\n[ \\t].*)*)`, 'im').exec(smtp.sent[index]?.source ?? '')?.[1]?.replaceAll(/\s+/g, ' '),
    state: () => gw.vault.collection('channelStates').get('email'),
    async [Symbol.asyncDispose]() {
      await gw[Symbol.asyncDispose]();
      mail.close();
      await Promise.all([imap.stop(), smtp.stop()]);
    },
  };
}

describe('e-mail', () => {
  verifies('channels/email', 'mails are answered in their thread, as text and HTML', async () => {
    await using at = await createEmailGateway();
    at.imap.add('INBOX', toSource({ id: 'old', text: 'before it was set up' }));
    await at.runs();
    at.receive({ id: 'm1' });
    await at.passes(() => at.smtp.sent.length === 1, 'an answer');
    expect(at.smtp.sent[0]).toMatchObject({ from: ACCOUNT.user, to: ['ada@example.com'], notify: ['FAILURE'] });
    expect(at.header(0, 'Subject')).toBe('Re: Tides');
    expect(at.header(0, 'In-Reply-To')).toBe('<m1@example.com>');
    expect(at.header(0, 'References')).toBe('<m1@example.com>');
    expect(at.header(0, 'Auto-Submitted')).toBe('auto-replied');
    expect(at.smtp.sent[0]?.source).toContain('<strong>Bye</strong>');
    await at.settles();
    const own = at.header(0, 'Message-ID') ?? '';
    at.receive({
      ...{ id: 'm2', subject: 'Re: Tides', text: 'And low?\r\n\r\nOn Monday Perch wrote:\r\n> You said' },
      headers: [`In-Reply-To: ${own}`, `References: <m1@example.com> ${own}`],
    });
    at.receive({ id: 'm3', subject: 'Moon', text: 'Full?' });
    await at.passes(() => at.smtp.sent.length === 3, 'two more answers');
    await at.settles();
    const [second] = at.smtp.sent.slice(1).filter(({ source }) => source.includes('Subject: Re: Tides'));
    expect(second?.source).toMatch(/You said: And low\?\r\n\r\n\*\*Bye/);
    const { sessions } = await at.client.call('sessions.list', {});
    expect(sessions.map(({ title }) => title).sort()).toEqual(['Email: Moon', 'Email: Tides']);
    expect((await at.status()).metrics).toMatchObject({ messages_received: 3, messages_sent: 3 });
    expect(at.gw.faults).toEqual([]);
  });

  verifies('channels/email-senders', 'forged and unknown senders are ignored, counted, and told nothing', async () => {
    await using at = await createEmailGateway();
    await at.runs();
    at.receive({ id: 'f1', results: 'mx.example.org; dmarc=fail header.from=example.com' });
    at.receive({ id: 'f2', results: 'mx.example.org; dmarc=pass header.from=evil.example' });
    at.receive({ id: 'f3', results: 'mx.evil.example; dmarc=pass header.from=example.com' });
    at.receive({ id: 'f4', from: 'Ada <eve@evil.example>' });
    at.receive({ id: 'f5', from: '"ada@example.com" <eve@evil.example>' });
    await at.passes(async () => (await at.state())?.cursors['ignored'] === '5', 'five are ignored');
    at.receive({ id: 'm1' });
    await at.passes(() => at.smtp.sent.length === 1, 'an answer');
    await at.settles();
    expect(at.gw.calls).toHaveLength(1);
    expect(at.smtp.sent.flatMap(({ to }) => to)).toEqual(['ada@example.com']);
  });

  verifies('channels/email-senders', 'without a named or known server nobody passes, unless the owner trusts any', async () => {
    await using at = await createEmailGateway({ trustedServer: null, owners: ['ada@example.com'], sendCodes: true });
    await at.passes(async () => (await at.status()).problem?.includes('set channels.email.trustedServer') === true, 'a problem');
    at.receive({ id: 'f1' });
    at.receive({ id: 'f2', from: 'bob@example.net' });
    await at.passes(async () => (await at.state())?.cursors['ignored'] === '2', 'two are ignored');
    expect(at.smtp.sent).toEqual([]);
    await at.client.call('config.patch', { patch: { channels: { email: { trustAnyServer: true } } } });
    await at.passes(async () => (await at.status()).problem === undefined, 'no problem');
    at.receive({ id: 'm1', subject: 'Now' });
    await at.passes(() => at.smtp.sent.length === 1, 'an answer');
    await at.settles();
    expect(at.gw.calls).toHaveLength(1);
    // A header that anybody could have written does not make a mail the owner’s word.
    const { messages } = await at.client.call('chat.history', {
      sessionId: (await at.client.call('sessions.list', {})).sessions[0]?.sessionId ?? '',
    });
    expect(messages[0]).toMatchObject({ outside: [expect.stringContaining('channel:email')] });
  });

  verifies('channels/email-senders', 'with sendCodes, unknown senders that are genuine get a code', async () => {
    await using at = await createEmailGateway({ sendCodes: true, allowedUsers: null });
    await at.runs();
    at.receive({ id: 'f1', from: 'eve@evil.example', results: 'mx.example.org; dmarc=fail' });
    at.receive({ id: 'u1', from: 'bob@example.net' });
    await at.passes(() => at.smtp.sent.length === 1, 'a code');
    expect(at.smtp.sent[0]?.to).toEqual(['bob@example.net']);
    const code = /owner: ([\w-]+)/.exec(at.smtp.sent[0]?.source.replaceAll(/=\r\n/g, '') ?? '')?.[1] ?? '';
    await at.client.call('channels.confirmSender', { channelId: 'email', code });
    at.receive({ id: 'u2', from: 'Bob <BOB@example.net>', subject: 'Again' });
    await at.passes(() => at.smtp.sent.length === 2, 'an answer');
    expect(at.smtp.sent[1]?.source).toContain('Re: Again');
  });

  verifies('channels/email', 'what Perch sends first is delivered when the recipient’s server says so', async () => {
    await using at = await createEmailGateway({ owners: ['ADA@example.com'] });
    await at.runs();
    const targets = [{ id: 'me', name: 'Me', target: { kind: 'channel', channelId: 'email' } }];
    await at.client.call('config.patch', { patch: { deliveries: { targets } } });
    const { delivery } = await at.client.call('deliveries.test', { targetId: 'me' });
    await at.passes(() => at.smtp.sent.length === 1, 'a mail');
    expect(at.smtp.sent[0]).toMatchObject({ to: ['ada@example.com'], notify: ['SUCCESS', 'FAILURE'] });
    expect(at.header(0, 'Auto-Submitted')).toBe('auto-generated');
    const getState = async () => (await at.client.call('deliveries.get', { id: delivery.id })).delivery.state;
    await at.passes(async () => (await getState()) === 'accepted', 'it is accepted');
    const report = [
      '--b',
      'Content-Type: message/delivery-status',
      '',
      `Original-Envelope-Id: ${at.smtp.sent[0]?.envid}`,
      '',
      'Action: delivered',
      '--b--',
    ];
    at.receive({
      id: 'r1',
      from: 'mailer-daemon@example.com',
      headers: ['Content-Type: multipart/report; boundary=b'],
      text: report.join('\r\n'),
    });
    await at.passes(async () => (await getState()) === 'delivered', 'it is delivered');
  });

  verifies('channels/email-owner', 'a mail about an approval has no value that decides it', async () => {
    const sent: string[] = [];
    const send: Bridge['call'] = async (_port, _name, params) => {
      sent.push(JSON.stringify(params));
      return { response: '' } as never;
    };
    const settings = {
      ...{ address: ACCOUNT.user, imapHost: 'imap.example.org', smtpHost: 'smtp.example.org' },
      signIn: 'password',
      folder: 'INBOX',
    } as const;
    const bridge: Bridge = { provides: () => true, call: send, watch: () => () => {} };
    const adapter = new EmailAdapter({ bridge, clock: new FakeClock(), password: 'x', settings: () => settings, note: () => {} });
    const post = { id: 'd1', to: 'ada@example.com', createdAt: 0, buttons: [{ label: 'Allow once', value: 'secret-value' }] };
    const { signal } = new AbortController();
    await adapter.post(post, 'Approval needed', { sent: [], signal });
    expect(sent[0]).toContain('Approval needed');
    expect(sent[0]).toContain('Replies to this mail decide nothing.');
    expect(sent[0]).not.toContain('secret-value');
    await expect(adapter.post({ ...post, to: 'nobody' }, 'x', { sent: [], signal })).rejects.toMatchObject({
      refused: true,
      isUnsent: true,
    });
  });

  verifies('channels/email-once', 'a lost answer of the server: the mail is not sent again', async () => {
    await using at = await createEmailGateway();
    await at.runs();
    at.smtp.fault = () => ({ cut: 'accepted' });
    at.receive({ id: 'm1' });
    await at.passes(() => at.smtp.sent.length === 1, 'it was accepted');
    at.smtp.fault = () => undefined;
    await at.settles();
    expect(at.smtp.sent).toHaveLength(1);
    let refusals = 2;
    at.smtp.fault = () => (refusals-- > 0 ? { step: 'rcpt', code: 451, text: '4.7.1 Greylisted' } : undefined);
    at.receive({ id: 'm2', subject: 'Later' });
    await at.passes(() => at.smtp.sent.length === 2, 'it was tried again');
    await at.settles();
    expect(at.gw.calls).toHaveLength(2);
  });

  verifies('channels/email-once', 'a dropped connection and new UIDs: each mail is answered once', async () => {
    await using at = await createEmailGateway();
    await at.runs();
    at.receive({ id: 'm1' });
    await at.passes(() => at.smtp.sent.length === 1, 'an answer');
    await at.settles();
    at.imap.renumber('INBOX');
    at.imap.add('INBOX', toSource({ id: 'm2', subject: 'Second' }), Date.now() + 5_000);
    at.imap.dropAll();
    await at.passes(() => at.smtp.sent.length === 2, 'the answer to the second one');
    await at.settles();
    await at.client.call('channels.stop', { channelId: 'email' });
    at.imap.add('INBOX', toSource({ id: 'm3', subject: 'Third' }), Date.now() + 6_000);
    await at.client.call('channels.start', { channelId: 'email' });
    await at.passes(() => at.smtp.sent.length === 3, 'the answer to the third one');
    await at.settles();
    expect(at.gw.calls).toHaveLength(3);
  });

  verifies('channels/email-errors', 'the status tells what is wrong', async () => {
    await using at = await createEmailGateway({ folder: 'Nowhere' });
    const shows = (text: string) => at.passes(async () => (await at.status()).problem?.includes(text) === true, `"${text}"`);
    const patch = (email: Record<string, unknown>) => at.client.call('config.patch', { patch: { channels: { email } } });
    await shows('The folder "Nowhere" doesn’t exist');
    await patch({ folder: null, password: 'wrong' });
    await shows('rejected the user name or the password');
    await patch({ password: ACCOUNT.password });
    await at.runs();
    at.receive({ id: 'm1', results: null });
    await shows('no Authentication-Results header of mx.example.org');
    at.receive({ id: 'm2' });
    await at.passes(() => at.smtp.sent.length === 1, 'an answer');
    await at.passes(async () => (await at.status()).problem === undefined, 'no problem');
    await expect(patch({ imapHost: 'https://example.org/mail' })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    await expect(patch({ address: 'nobody' })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  });

  verifies('channels/email', 'attachments reach the agent', async () => {
    await using at = await createEmailGateway();
    await at.runs();
    const boundary = ['MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary=b'];
    const parts = [
      '--b',
      '',
      'See the notes',
      '--b',
      'Content-Type: text/plain',
      'Content-Disposition: attachment; filename=notes.txt',
      '',
      'High water at noon',
      '--b--',
    ];
    at.receive({ id: 'm1', headers: boundary, text: parts.join('\r\n') });
    await at.passes(() => at.smtp.sent.length === 1, 'an answer');
    expect(at.smtp.sent[0]?.source.replaceAll(/=\r\n/g, '')).toContain('High water at noon');
  });
});
