import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { browserTransport } from '#shared/sync/nats/browser-transport.ts';
import { verifies } from '../../tests/requirements.ts';
import { openVault } from '../cli/open-vault.ts';
import { Home } from '../home-directory.ts';
import { temporaryFolder } from '../journal/fixture.ts';
import { LogRing } from '../log-ring.ts';
import { getBrowserTransport } from './browser-transport.ts';
import { writeSyncSettings } from './sync-settings.ts';

const servers = ['nats://inside:4222'];
const websocket = ['wss://outside:443', 'wss://other/nats'];
/** Resolved secrets are in capitals. */
const resolve = async (text: string): Promise<string> => text.toUpperCase();

verifies('vault.cluster/browser-over', 'without an address for browsers they are told of no way', async () => {
  const resolved: string[] = [];
  const transport = await getBrowserTransport({ servers, user: 'perch', password: 'word' }, async (text) => (resolved.push(text), text));
  expect([transport, resolved]).toEqual([null, []]);
});

verifies(
  'vault.cluster/browser-over',
  'with one they get the addresses for browsers, and the secrets themselves; nothing else of the bridge’s',
  async () => {
    using folder = temporaryFolder();
    const credentials = join(folder.dir, 'perch.creds');
    const text = '-----BEGIN NATS USER JWT-----\nx\n-----BEGIN USER NKEY SEED-----\n';
    writeFileSync(credentials, text);
    const own = { servers, websocket, tls: { ca: '/ca.pem' }, replicas: 3 as const };
    for (const [settings, expected] of [
      [own, {}],
      [
        { ...own, user: 'perch', password: 'word' },
        { user: 'perch', password: 'WORD' },
      ],
      [{ ...own, token: 'word' }, { token: 'WORD' }],
      [{ ...own, credentials }, { credentials: text }],
    ] as const) {
      const transport = await getBrowserTransport(settings, resolve);
      expect(transport).toEqual({ servers: websocket, ...expected });
      expect(browserTransport.parse(transport)).toEqual(transport);
    }
  },
);

verifies('vault.cluster/browser-over', 'unreadable credentials or secrets are reported, and no route is invented', async () => {
  using folder = temporaryFolder();
  const credentials = join(folder.dir, 'nowhere.creds');
  await expect(getBrowserTransport({ servers, websocket, credentials }, resolve)).rejects.toThrow('nowhere.creds');
  const refused = new Error('There is no secret');
  await expect(getBrowserTransport({ servers, websocket, token: '${X}' }, () => Promise.reject(refused))).rejects.toBe(refused);
});

verifies('vault.cluster/browser-over', 'an opened vault reads it anew each time, and its log never shows the secrets in it', async () => {
  using folder = temporaryFolder();
  const home = await Home.open({ dir: folder.dir });
  const open = async () => {
    const ring = new LogRing();
    const { journal, browserWay } = await openVault(home, { ring, log: (line) => ring.write(line) });
    return { ring, browserWay, [Symbol.asyncDispose]: () => journal.close() };
  };
  {
    await using alone = await open();
    expect(alone.browserWay).toBeUndefined();
  }
  await writeSyncSettings(folder.dir, { servers: ['nats://127.0.0.1:1'], websocket, token: '${NATS_OF_TEST}' });
  await using vault = await open();
  for (const token of ['first-secret-word', 'second-secret-word']) {
    writeFileSync(join(folder.dir, 'secrets.env'), `NATS_OF_TEST=${token}\n`, { mode: 0o600 });
    expect(await vault.browserWay?.()).toEqual({ servers: websocket, token });
    vault.ring.write(`it was ${token}`);
  }
  expect(JSON.stringify(vault.ring.read({ ring: vault.ring.id, after: 0, limit: 100, level: 'info' }))).not.toContain('secret-word');
});
