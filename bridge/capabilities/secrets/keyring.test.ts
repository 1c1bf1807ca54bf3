import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { findProcesses } from '../../headless/tests/stub-host-page.ts';
import { NO_KEEPER } from '../../processes/process-keeper.ts';
import { KEYRING_SERVICE } from './keyring-constants.ts';
import { readKeyring } from './keyring.ts';

const NAME = `PERCHES_TEST_${process.pid}`;
const linux = process.platform === 'linux';

/**
 * Adds an entry to the kernel's keyring (the fallback), reads it like the bridge, and removes it, in one process, since the session's
 * keyring may belong to it. The first call may only create that keyring.
 */
const PROGRAM = `
import { Entry } from '@napi-rs/keyring';
import { readKeyring } from './keyring.ts';
import { NO_KEEPER } from '../../processes/process-keeper.ts';
const entry = () => new Entry('${KEYRING_SERVICE}', '${NAME}', { linux: { store: 'keyutils' } });
const put = () => entry().setPassword('of-the-keyring');
try { put(); } catch { put(); }
const found = await readKeyring(['${NAME}', 'PERCHES_TEST_NONE'], { env: { PATH: process.env.PATH }, keeper: NO_KEEPER });
entry().deletePassword();
console.log(JSON.stringify(found));
`;
const ran = linux
  ? spawnSync(process.execPath, ['--input-type=module', '--eval', PROGRAM], { cwd: import.meta.dirname, encoding: 'utf8' })
  : undefined;
const usable = ran !== undefined && !ran.stderr.includes('platform storage');

test.runIf(usable)('finds keyring entries by name (skipped where the kernel’s cannot be used)', () => {
  expect(JSON.parse(ran?.stdout || '{}')).toEqual({ [NAME]: 'of-the-keyring' });
});

verifies('secrets/keyring-hangs', 'a bus that takes every call and answers none', async () => {
  if (!linux) return;
  const dir = mkdtempSync(join(tmpdir(), 'perch-keyring-'));
  const sockets: Socket[] = [];
  const bus = createServer((socket) => void sockets.push(socket.on('error', () => {})));
  await once(bus.listen(join(dir, 'bus')), 'listening');
  try {
    expect(
      await readKeyring(['PERCHES_TEST_HUNG'], { env: { DBUS_SESSION_BUS_ADDRESS: `unix:path=${join(dir, 'bus')}` }, keeper: NO_KEEPER }),
    ).toEqual({});
    expect(sockets.length).toBeGreaterThan(0);
    expect(findProcesses('PERCHES_TEST_HUNG')).toEqual([]);
  } finally {
    for (const socket of sockets) socket.destroy();
    bus.close();
    rmSync(dir, { recursive: true, maxRetries: 20, retryDelay: 50 });
  }
});
