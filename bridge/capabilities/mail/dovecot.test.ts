import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { MailPosition, MailServer } from '#shared/ports/mail-port.ts';
import { findFreePort } from '../../sync/tests/nats-server.ts';
import { connectImap } from './imap-session.ts';
import { createMailCapability } from './mail-handlers.ts';

const DOVECOT = '/usr/sbin/dovecot';
const isInstalled = existsSync(DOVECOT) && process.getuid?.() === 0;
const PASSWORD = 'a "quoted" secret\\';
const CALL = { signal: new AbortController().signal, send: () => {} };

const toConfig = (dir: string, port: number): string => `
base_dir = ${dir}/run
state_dir = ${dir}/run
log_path = ${dir}/log
protocols = imap
listen = 127.0.0.1, 127.0.1.1
ssl = required
ssl_cert = <${dir}/cert.pem
ssl_key = <${dir}/key.pem
mail_location = maildir:${dir}/mail
first_valid_uid = 1
passdb {
  driver = passwd-file
  args = scheme=PLAIN ${dir}/users
}
userdb {
  driver = static
  args = uid=65534 gid=65534 home=${dir}/mail
}
namespace inbox {
  inbox = yes
  mailbox Sent {
    special_use = \\Sent
    auto = create
  }
}
service imap-login {
  inet_listener imap {
    port = ${port}
  }
  inet_listener imaps {
    port = 0
  }
}
service stats {
  unix_listener stats-writer {
    mode = 0666
  }
}
`;

/** Skipped if Debian's `dovecot-imapd` is not installed, or the tests don't run as root, which the server needs. */
describe.skipIf(!isInstalled)('dovecot', () => {
  let dir = '';
  let server: MailServer;
  let stop: () => Promise<void>;
  const mail = createMailCapability({ log: () => {} });
  const poll = (after: MailPosition | null, waitMs = 0, folder = 'Perch', more: Partial<MailServer> = {}) =>
    mail.handlers['mail.poll']({ server: { ...server, ...more }, folder, after, waitMs }, CALL);
  const toIds = ({ mails }: Awaited<ReturnType<typeof poll>>): string[] =>
    mails.map(({ source }) => /Message-ID: <(\w+)/.exec(Buffer.from(source, 'base64').toString())?.[1] ?? '');
  const add = async (id: string, at?: Date): Promise<void> => {
    const client = await connectImap(server);
    await client.append('Perch', `Message-ID: <${id}@example.com>\r\n\r\nHi\r\n`, [], at);
    client.close();
  };

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'perch-dovecot-'));
    chmodSync(dir, 0o755);
    mkdirSync(join(dir, 'mail'));
    chmodSync(join(dir, 'mail'), 0o777);
    const subject = [
      '-subj',
      '/CN=mail.example.org',
      '-days',
      '2',
      '-nodes',
      '-keyout',
      join(dir, 'key.pem'),
      '-out',
      join(dir, 'cert.pem'),
    ];
    spawnSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', ...subject]);
    writeFileSync(join(dir, 'users'), `perch@example.org:{PLAIN}${PASSWORD}::::::\n`);
    const port = await findFreePort();
    writeFileSync(join(dir, 'dovecot.conf'), toConfig(dir, port));
    const daemon = spawn(DOVECOT, ['-F', '-c', join(dir, 'dovecot.conf')], { stdio: 'ignore' });
    const exited = new Promise<void>((resolve) => daemon.once('exit', () => resolve()));
    stop = async () => {
      daemon.kill();
      await exited;
    };
    server = { host: '127.0.0.1', port, security: 'starttls', user: 'perch@example.org', secret: PASSWORD, method: 'password' };
    const answers = () =>
      new Promise<boolean>((resolve) => {
        const socket = connect(port, '127.0.0.1', () => (socket.destroy(), resolve(true))).on('error', () => resolve(false));
      });
    await vi.waitFor(async () => expect(await answers()).toBe(true), 20_000);
    const client = await connectImap(server);
    await client.mailboxCreate('Perch');
    client.close();
  }, 40_000);

  afterAll(async () => {
    mail.close();
    await stop();
    rmSync(dir, { recursive: true, force: true });
  });

  it('gives each mail once, by IDLE, and goes on by time when the folder is made anew', async () => {
    await add('old');
    const start = await poll(null);
    await add('first');
    await add('second');
    const read = await poll(start.position);
    expect(toIds(read)).toEqual(['first', 'second']);
    const waiting = poll(read.position, 60_000);
    await add('third');
    const waited = await waiting;
    expect(toIds(waited)).toEqual(['third']);
    const client = await connectImap(server);
    await client.mailboxDelete('Perch');
    await client.mailboxCreate('Perch');
    client.close();
    await add('yesterday', new Date(Date.now() - 26 * 3_600_000));
    await add('fourth', new Date(Date.now() + 60_000));
    const renewed = await poll(waited.position);
    expect(toIds(renewed)).toEqual(['fourth']);
    expect(renewed.position.uidValidity).not.toBe(waited.position.uidValidity);
    const [uid] = renewed.mails.map((each) => each.uid);
    const fetched = await mail.handlers['mail.fetch'](
      { server, folder: 'Perch', uidValidity: renewed.position.uidValidity, uid: uid ?? 0 },
      CALL,
    );
    expect(Buffer.from(fetched.source, 'base64').toString()).toContain('fourth');
  }, 30_000);

  it('explains a wrong password and a missing folder', async () => {
    await expect(poll(null, 0, 'Nowhere')).rejects.toThrow('The folder "Nowhere" doesn’t exist');
    await expect(poll(null, 0, 'Perch', { secret: 'wrong' })).rejects.toThrow('rejected the user name or the password');
    // By a name that is not certainly this computer’s: its certificate must be valid.
    await expect(poll(null, 0, 'Perch', { host: hostname() })).rejects.toThrow(/certificate .* is not trusted/);
  }, 30_000);
});
