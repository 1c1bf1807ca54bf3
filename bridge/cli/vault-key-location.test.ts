import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { createTempFolder } from '../backup/fixture.ts';
import { toKeyringAccount, createKeyringMark } from '../journal/key-in-keyring.ts';
import { runPerch } from './tests/cli-gateway.ts';
import { hasKeyring, runInKeyring, createEnvWithoutKeyring } from './tests/test-keyring.ts';

const KEY = 'k'.repeat(42) + 'A';
const MAIN = `${process.execPath} ${join(import.meta.dirname, 'main.ts')} secrets keyring`;
/** Reads the key like the start of the gateway. */
const READ = `${process.execPath} --input-type=module --eval "import { vaultKey } from '${join(import.meta.dirname, '../journal/vault-key.ts')}'; console.log(await vaultKey(process.env.PERCH_HOME))"`;

test.runIf(hasKeyring)(
  'a real keyring: into it, read from there, and back (skipped where gnome-keyring and dbus are not installed)',
  () => {
    using dir = createTempFolder();
    const file = join(dir.path, 'vault.key');
    writeFileSync(file, `${KEY}\n`, { mode: 0o600 });
    const into = runInKeyring(dir.path, `${MAIN} && ${MAIN} on && ${MAIN} on && ${MAIN} && ${READ}`);
    const isIn = 'The vault key is in the system keyring';
    expect(into.stdout, into.stderr).toBe(
      `The vault key is in ${file}\nMoved the vault key to the system keyring\n${isIn}\n${isIn}\n${KEY}\n`,
    );
    expect(readFileSync(file, 'utf8')).toBe(`${createKeyringMark(KEY)}\n`);
    // Another session of the same user, with the persistent keyring.
    const back = runInKeyring(dir.path, `${READ} && ${MAIN} off && ${READ} && ${MAIN} off`);
    expect(back.stdout, back.stderr).toBe(
      `${KEY}\nSaved the vault key in ${file}, readable only by you\n${KEY}\nThe vault key is in ${file}\n`,
    );
    expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual([`${KEY}\n`, 0o600]);
    const lockedRun = runInKeyring(dir.path, `printf '%s\\n' '${createKeyringMark(KEY)}' > ${file}; ${MAIN} off`);
    expect([lockedRun.status, lockedRun.stdout]).toEqual([1, '']);
    expect(lockedRun.stderr).toContain('Unlock the keyring and start again. No new key was created.');
  },
);

verifies('secrets/vault-key', 'without a responding keyring the key stays in place, and none is created', async () => {
  if (process.platform !== 'linux') return;
  using dir = createTempFolder();
  const file = join(dir.path, 'vault.key');
  const run = (state: string, more: Record<string, string> = {}) =>
    runPerch(['secrets', 'keyring', state], { ...createEnvWithoutKeyring(dir.path), ...more });
  expect(await run('on')).toMatchObject({ code: 1, stderr: expect.stringContaining('No vault key in') });
  writeFileSync(file, `${KEY}\n`, { mode: 0o600 });
  expect(await run('perhaps')).toMatchObject({ code: 2 });
  expect(await run('off')).toMatchObject({ code: 0, stdout: `The vault key is in ${file}\n` });
  const sockets: Socket[] = [];
  const bus = createServer((socket) => void sockets.push(socket.on('error', () => {})));
  await once(bus.listen(join(dir.path, 'bus')), 'listening');
  const hung = { DBUS_SESSION_BUS_ADDRESS: `unix:path=${join(dir.path, 'bus')}` };
  try {
    for (const more of [{}, hung]) {
      const refused = await run('on', more);
      expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(`The key stays in ${file}`) });
      expect(readFileSync(file, 'utf8')).toBe(`${KEY}\n`);
    }
    writeFileSync(file, `${createKeyringMark(KEY)}\n`);
    for (const more of [{}, hung]) {
      const unread = await run('off', more);
      expect(unread).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(`account ${toKeyringAccount(KEY)}`) });
      expect(unread.stderr).not.toContain(KEY);
      expect(readFileSync(file, 'utf8')).toBe(`${createKeyringMark(KEY)}\n`);
    }
    // The gateway itself neither waits long nor creates a new key.
    const start = await runPerch(['gateway', 'run', '--port', '0', '--host', 'tab'], { ...createEnvWithoutKeyring(dir.path), ...hung });
    expect(start).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('didn’t return it within 2 s') });
    expect(readFileSync(file, 'utf8')).toBe(`${createKeyringMark(KEY)}\n`);
    expect(sockets.length).toBeGreaterThan(2);
  } finally {
    for (const socket of sockets) socket.destroy();
    bus.close();
  }
});
