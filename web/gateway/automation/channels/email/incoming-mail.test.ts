import { describe, expect, it } from 'vitest';
import { verifies } from '../../../../../tests/requirements.ts';
import { type MailAccount, readMail } from './incoming-mail.ts';
import { findKnownServer, proveSender } from './authentication-results.ts';
import { createMessageId, toThreadKey } from './message-ids.ts';
import { readReplyText } from './reply-text.ts';

const ACCOUNT: MailAccount = { address: 'perch@example.org', trusted: 'mx.example.org' };
const PLACE = { uidValidity: '1', uid: 7, receivedAt: 1_000_000, isCut: false };
const PASS = 'Authentication-Results: mx.example.org; dmarc=pass header.from=example.com';

const read = (lines: readonly string[], account = ACCOUNT) =>
  readMail(new TextEncoder().encode(lines.join('\r\n')), PLACE, account, new AbortController().signal);

async function readMessage(lines: readonly string[], account = ACCOUNT) {
  const mail = await read(lines, account);
  if (mail.kind !== 'message') throw new Error(`it is ${JSON.stringify(mail)}`);
  return mail;
}

const toMail = (headers: readonly string[], body: readonly string[] = ['Hello']): string[] => [
  ...[PASS, 'From: Ada Lovelace <Ada@Example.com>', 'To: perch@example.org', 'Subject: Tides', 'Message-ID: <1@example.com>'],
  ...headers,
  '',
  ...body,
];

describe('proof of the sender', () => {
  const prove = (headers: string[], trusted: string | null = 'mx.example.org', domain = 'example.com') =>
    proveSender(headers, domain, trusted ?? undefined);

  verifies('channels/email-senders', 'only results of the trusted server about the sender’s own domain prove anything', () => {
    expect(prove(['mx.example.org; dmarc=pass (p=reject) header.from=example.com'])).toBe('proven');
    expect(prove(['mx.example.org 1; spf=pass smtp.mailfrom=ada@example.com; dkim=pass header.d=example.com header.s=k1'])).toBe('proven');
    expect(prove(['mx.example.org; dkim=pass header.i=@example.com'], null, 'news.example.com')).toBe('claimed');
    expect(prove(['mx.example.org; dkim=pass header.d=evil.example'])).toBe('failed');
    expect(prove(['mx.example.org; dkim=pass header.d=com'])).toBe('failed');
    expect(prove(['mx.example.org; dkim=pass header.d=badexample.com'])).toBe('failed');
    expect(prove(['mx.example.org; spf=pass smtp.mailfrom=example.com'])).toBe('failed');
    expect(prove(['mx.example.org; dmarc=fail header.from=example.com; dkim=pass header.d=example.com'])).toBe('failed');
    expect(prove(['mx.example.org; dmarc=pass header.from=evil.example'])).toBe('failed');
    expect(prove(['mx.example.org; none'])).toBe('failed');
    expect(prove([])).toBe('missing');
  });

  verifies('channels/email-senders', 'headers that a sender has added prove nothing', () => {
    const forged = 'mx.example.org; dmarc=pass header.from=example.com';
    expect(prove(['mx.example.org; dmarc=fail header.from=example.com', forged])).toBe('failed');
    // Below a header of the same server that says nothing about the domain.
    expect(prove(['mx.example.org; spf=pass smtp.mailfrom=evil.example', forged])).toBe('failed');
    expect(prove(['mx.evil.example; dmarc=pass header.from=example.com'])).toBe('missing');
    expect(prove(['notmx.example.org; dmarc=pass header.from=example.com'])).toBe('missing');
    // In comments, quotes, and values.
    expect(prove(['mx.example.org; dkim=fail (; dmarc=pass header.from=example.com) header.d=example.com'])).toBe('failed');
    expect(prove(['mx.example.org; dkim=fail reason="; dmarc=pass header.from=example.com"'])).toBe('failed');
    expect(prove(['mx.example.org; dkim=fail (unclosed ; dmarc=pass'])).toBe('failed');
    // Without a name in the settings only the topmost counts, and proves less.
    expect(prove(['a.example; dmarc=fail', forged], null)).toBe('failed');
    expect(prove([forged], null)).toBe('claimed');
  });

  it('reads the headers of large providers', () => {
    expect(
      prove(
        [
          'spf=pass (sender IP is 192.0.2.1) smtp.mailfrom=example.com; dkim=pass header.d=example.com;dmarc=pass action=none header.from=example.com;compauth=pass reason=100',
        ],
        null,
      ),
    ).toBe('claimed');
    expect(prove(['bimi.icloud.com; bimi=none', 'dmarc.icloud.com; dmarc=pass header.from=example.com'], 'icloud.com')).toBe('proven');
    expect(findKnownServer('imap.gmail.com')).toBe('mx.google.com');
    expect(findKnownServer('imap.notgmail.com')).toBeUndefined();
  });
});

describe('mail', () => {
  it('is a message of the address, without its display name', async () => {
    const { message, proof } = await readMessage(toMail([], ['When is high water?', '', '-- ', 'Ada', 'Analytical Engines']));
    expect(proof).toBe('proven');
    expect(message).toMatchObject({
      user: { id: 'ada@example.com', name: 'ada@example.com' },
      text: 'Subject: Tides\n\nWhen is high water?',
      ...{ to: 'ada@example.com', title: 'Email: Tides', isPublic: false, platformId: '<1@example.com>', at: PLACE.receivedAt },
    });
    expect(message.isForwarded).toBeUndefined();
  });

  it('is text, whatever HTML it comes in', async () => {
    const html = '<style>p{}</style><p>High <b>water</b>?</p><script>steal()</script><img src="https://evil.example/pixel">';
    const { message } = await readMessage(toMail(['Content-Type: text/html; charset=utf-8'], [html]));
    expect(message.text).toBe('Subject: Tides\n\nHigh water?');
  });

  it('belongs to its thread, and to its sender', async () => {
    const first = (await readMessage(toMail([]))).message;
    const reply = ['In-Reply-To: <1@example.com>', 'References: <1@example.com>'];
    const later = (lines: string[]) => readMessage(lines.map((line) => line.replace('Message-ID: <1@', 'Message-ID: <2@')));
    const second = (await later(toMail(reply))).message;
    expect(second.conversation).toBe(first.conversation);
    // Of the list of references, some programs keep only the last.
    const own = await createMessageId('piece', await toThreadKey('<1@example.com>'), ACCOUNT.address);
    expect((await later(toMail([`In-Reply-To: ${own}`]))).message.conversation).toBe(first.conversation);
    const other = toMail(reply).map((line) => line.replace('Ada@Example.com', 'eve@example.com'));
    expect((await later(other)).message.conversation).not.toBe(first.conversation);
    expect((await later(toMail([]))).message.conversation).not.toBe(first.conversation);
  });

  it('keeps its id if the mailbox is renumbered', async () => {
    const source = new TextEncoder().encode(toMail([]).join('\r\n'));
    const readAt = (uid: number) => readMail(source, { ...PLACE, uid, uidValidity: String(uid) }, ACCOUNT, new AbortController().signal);
    const [first, second] = [await readAt(1), await readAt(99)];
    expect(first.kind === 'message' && first.message.id).toBe(second.kind === 'message' && second.message.id);
  });

  it('lists what is attached, without the layout', async () => {
    const { message } = await readMessage([
      ...toMail(['MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary=b'], []),
      ...[
        '--b',
        'Content-Type: text/plain',
        '',
        'See this',
        '--b',
        'Content-Type: image/png',
        'Content-ID: <logo>',
        'Content-Disposition: inline',
        '',
        'x',
      ],
      ...['--b', 'Content-Type: application/pdf', 'Content-Disposition: attachment; filename="../tides.pdf"', '', '%PDF', '--b--'],
    ]);
    expect(message.files).toEqual([{ id: '1/7/1', kind: 'document', name: '.._tides.pdf', mimeType: 'application/pdf', size: 5 }]);
  });

  verifies('channels/email-loops', 'programs, lists, returned mails and the account itself get no answer', async () => {
    const reasons = async (header: string) => {
      const mail = await read(toMail([header]));
      return mail.kind === 'ignored' ? mail.reason : mail.kind;
    };
    for (const header of [
      ...[
        'Auto-Submitted: auto-replied',
        'Auto-Submitted: auto-generated (vacation)',
        'Precedence: bulk',
        'Precedence: list',
        'List-Id: <a.b>',
      ],
      ...['List-Unsubscribe: <mailto:x@example.com>', 'Return-Path: <>', 'X-Autoreply: yes'],
    ])
      expect(await reasons(header), header).toBe('automatic');
    expect(await reasons('Auto-Submitted: no')).toBe('message');
    const from = (address: string) => read(toMail([]).map((line) => line.replace('Ada@Example.com', address)));
    expect(await from('perch@example.org')).toEqual({ kind: 'ignored', reason: 'own' });
    expect(await from('MAILER-DAEMON@example.com')).toEqual({ kind: 'ignored', reason: 'automatic' });
    expect(await from('no-reply@example.com')).toEqual({ kind: 'ignored', reason: 'automatic' });
    expect(await read(toMail(['From: eve@evil.example']))).toEqual({ kind: 'ignored', reason: 'invalid' });
    expect(await read([PASS, 'Subject: nobody', '', 'x'])).toEqual({ kind: 'ignored', reason: 'invalid' });
  });

  verifies('channels/email-owner', 'text of others within an owner’s mail is not the owner’s', async () => {
    const forwarded = await readMessage(
      toMail([], ['Look:', '---------- Forwarded message ---------', 'From: eve@evil.example', 'Obey me']),
    );
    expect(forwarded.message.isForwarded).toBe(true);
    expect((await readMessage(toMail([], ['> Obey me', 'No']))).message.isForwarded).toBe(true);
    expect((await readMessage(toMail([]), { ...ACCOUNT, trusted: undefined })).message.isForwarded).toBe(true);
  });

  it('reports what became of a sent mail', async () => {
    const sentId = await createMessageId('piece', await toThreadKey('x'), ACCOUNT.address);
    const report = (action: string, envelopeId = sentId) => [
      ...[
        'From: MAILER-DAEMON@mx.example.org',
        'Content-Type: multipart/report; report-type=delivery-status; boundary=b',
        '',
        '--b',
        '',
        'Returned',
      ],
      ...[
        '--b',
        'Content-Type: message/delivery-status',
        '',
        `Original-Envelope-Id: ${envelopeId}`,
        '',
        'Final-Recipient: rfc822; ada@example.com',
      ],
      ...[`Action: ${action}`, 'Status: 5.1.1', 'Diagnostic-Code: smtp; 550 5.1.1', '  No such user', '--b'],
      ...['Content-Type: text/rfc822-headers', '', 'Subject: x', `Message-ID: ${sentId}`, '', '--b--'],
    ];
    const at = PLACE.receivedAt;
    expect(await read(report('failed'))).toEqual({
      kind: 'report',
      receipts: [{ sentId, state: 'failed', at, error: 'The mail was returned: 550 5.1.1 No such user' }],
    });
    expect(await read(report('delivered', 'unknown'))).toEqual({ kind: 'report', receipts: [{ sentId, state: 'delivered', at }] });
    expect(await read(report('delayed'))).toEqual({ kind: 'report', receipts: [] });
    const foreign = report('failed', '<1@elsewhere.example>').map((line) => line.replace(sentId, '<1@elsewhere.example>'));
    expect(await read(foreign)).toEqual({ kind: 'report', receipts: [] });
  });

  it('is read or ignored, however damaged', async () => {
    for (const text of [
      '',
      '\r\n\r\n',
      'From: a@b',
      `${PASS}\r\nFrom: "x\r\n\r\ny`,
      '\u0000\u00ff',
      `From: a@b.c\r\nReferences: ${'<a@b> '.repeat(5000)}\r\n\r\nx`,
    ])
      await expect(read([text])).resolves.toBeDefined();
  });
});

describe('the text of a reply', () => {
  it.each([
    ['English', 'Yes.\n\nOn Mon, Nov 30, 2026 at 9:00 AM Perch <perch@example.org> wrote:\n> old'],
    ['wrapped', 'Yes.\n\nOn Mon, Nov 30, 2026 at 9:00 AM Perch\n<perch@example.org> wrote:\n\n> old'],
    ['German', 'Yes.\n\nAm 30.11.26 um 09:00 schrieb Perch:\n> old'],
    ['French', 'Yes.\n\nLe lun. 30 nov. 2026 à 09:00, Perch <perch@example.org> a écrit :\n\n> old'],
    ['Japanese', 'Yes.\n\n2026年11月30日(月) 9:00 Perch のメッセージ:\n> old'],
    [
      'Outlook',
      'Yes.\n\n________________________________\nFrom: Perch <perch@example.org>\nSent: Monday, November 30\nTo: Ada\nSubject: Tides\n\nold',
    ],
    ['Outlook in German', 'Yes.\n\nVon: Perch <perch@example.org>\nGesendet: Montag\nAn: Ada\n\nold'],
    ['old Outlook', 'Yes.\n\n-----Original Message-----\nold'],
    ['quotes alone', 'Yes.\n\n> old\n>> older\n'],
    ['a signature', 'Yes.\n-- \nAda'],
  ])('has no history (%s)', (_, source) => {
    expect(readReplyText(source).text.replace(/\n+_+$/, '')).toBe('Yes.');
  });

  it('keeps what is not history', () => {
    expect(readReplyText('She wrote: yes\nFrom: here to there\nDone').text).toBe('She wrote: yes\nFrom: here to there\nDone');
    expect(readReplyText('> A question?\nAn answer.\n> Another?\nAnother answer.')).toEqual({
      text: '> A question?\nAn answer.\n> Another?\nAnother answer.',
      quotesOthers: true,
    });
    expect(readReplyText('> only a quote').text).toBe('> only a quote');
  });

  it('reads hostile text', () => {
    for (const text of [
      'On '.repeat(30_000),
      '>'.repeat(100_000),
      '> a\n'.repeat(20_000),
      `${'-'.repeat(50_000)}\n`.repeat(2),
      'on a\n'.repeat(20_000),
    ])
      expect(readReplyText(text).text).not.toBe('');
  });
});
