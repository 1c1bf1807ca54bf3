import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { createTempFolder } from '../backup/fixture.ts';
import { loadVaultKey } from '../journal/vault-key.ts';
import { RecordSeal } from '../sync/record-seal.ts';
import { runPerch } from './tests/cli-gateway.ts';
import { createEnvWithoutKeyring } from './tests/test-keyring.ts';

verifies(
  'vault.cluster/phrase',
  'shown on one machine and taken on another, which has the same key then; never over another vault',
  async () => {
    using one = createTempFolder();
    using two = createTempFolder();
    const run = (dir: string, word: string, input = '') => runPerch(['sync', word], createEnvWithoutKeyring(dir), input);
    expect(await run(one.path, 'phrase')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('No vault on this computer yet'),
    });
    const key = await loadVaultKey(one.path);
    const { stdout: phrase, stderr } = await run(one.path, 'phrase');
    expect(phrase.trim().split(' ')).toHaveLength(24);
    expect(stderr).toContain('Anyone with these words can read everything');
    const wrong = await run(two.path, 'join', phrase.replace(/^\S+/, 'nonsensical'));
    expect(wrong).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/^perch: Word 1 of(?!.*nonsensical)/) });
    expect(existsSync(join(two.path, 'vault.key'))).toBe(false);
    expect(await run(two.path, 'join', phrase)).toMatchObject({ code: 0, stdout: 'Saved the vault key on this computer\n' });
    expect(await loadVaultKey(two.path)).toBe(key);
    if (process.platform !== 'win32') expect(statSync(join(two.path, 'vault.key')).mode & 0o777).toBe(0o600);
    expect(await run(two.path, 'join', phrase)).toMatchObject({ code: 0, stdout: 'This computer already has this key\n' });
    using three = createTempFolder();
    const own = await loadVaultKey(three.path);
    expect(await run(three.path, 'join', phrase)).toMatchObject({ code: 1, stderr: expect.stringContaining('contains another vault') });
    expect(await loadVaultKey(three.path)).toBe(own);
  },
);

verifies('vault.cluster/setting', 'is kept for the owner alone, shows no secret, and is taken away again', async () => {
  using dir = createTempFolder();
  const file = join(dir.path, 'sync.json');
  const run = (args: string[], input = '') => runPerch(['sync', ...args], createEnvWithoutKeyring(dir.path), input);
  expect((await run(['status'])).stdout).toBe('Sync is off\n');
  await loadVaultKey(dir.path);
  const set = await run(['nats', 'nats://127.0.0.1:1', 'tls://127.0.0.1:2', '--user', 'perch', '--replicas', '3'], 'secret-word\n');
  expect(set).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('from the next start.'),
    stderr: expect.stringContaining('Warning: '),
  });
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
    version: 1,
    nats: { servers: ['nats://127.0.0.1:1', 'tls://127.0.0.1:2'], user: 'perch', password: 'secret-word', replicas: 3 },
  });
  if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600);
  const status = await run(['status']);
  expect(status).toMatchObject({ code: 1, stderr: expect.stringContaining('Couldn’t reach the cluster') });
  expect(set.stdout + set.stderr + status.stdout + status.stderr).not.toContain('secret-word');
  expect(set.stderr).not.toContain('browsers');
  const web = await run(['nats', 'nats://127.0.0.1:1', '--websocket', 'wss://outside:443', 'ws://127.0.0.1:2', '--token'], 'secret-word\n');
  expect(web).toMatchObject({ code: 0, stderr: expect.stringContaining('Paired browsers receive these addresses') });
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
    nats: { servers: ['nats://127.0.0.1:1'], websocket: ['wss://outside:443', 'ws://127.0.0.1:2'], token: 'secret-word' },
  });
  for (const args of [
    ['nats://x', '--websocket', 'nats://x'],
    ['nats://x', '--websocket', 'wss://name:word@x'],
    ['http://x'],
    ['nats://name:word@x'],
    ['nats://x', '--user', 'a', '--token'],
    ['nats://x', '--cert', 'c'],
    ['nats://x', '--replicas', '2'],
  ])
    expect(await run(['nats', ...args], 'x'), args.join(' ')).toMatchObject({ code: 2, stdout: '' });
  expect(await run(['off'])).toMatchObject({ code: 0 });
  expect(existsSync(file)).toBe(false);
});

verifies(
  'vault.cluster/permissions',
  'the command prints them for this vault, without its key or a password; with a size that the server knows',
  async () => {
    using dir = createTempFolder();
    const run = (...args: string[]) => runPerch(['sync', ...args], createEnvWithoutKeyring(dir.path), 'x\n');
    expect(await run('permissions')).toMatchObject({ code: 1, stderr: expect.stringContaining('No vault on this computer yet') });
    expect(await run('prepare', 'nats://127.0.0.1:1')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('No vault on this computer yet'),
    });
    const key = await loadVaultKey(dir.path);
    const { vault } = new RecordSeal(key);
    const own = await run('permissions', '--user', 'me', '--storage', '20GB');
    expect(own).toMatchObject({ code: 0, stderr: '' });
    for (const part of [`PERCH_${vault} {`, 'max_file: 20GB', 'user: "me"', `"$JS.API.STREAM.CREATE.PERCH_${vault}"`])
      expect(own.stdout).toContain(part);
    expect(own.stdout).not.toContain(key);
    const shared = await run('permissions', '--shared-account', '--for-cluster');
    expect(shared.stdout).toContain(`user: "perch-${vault}"`);
    expect(shared.stdout).not.toContain('STREAM.CREATE');
    const { publish, subscribe } = JSON.parse((await run('permissions', '--json', '--for-cluster')).stdout);
    expect(publish).toContain(`perch.${vault}.>`);
    expect(subscribe).toEqual([`_INBOX_${vault}.>`, `perch.${vault}.>`]);
    for (const wrong of ['0GB', '4', '4GB } x'])
      expect(await run('permissions', '--storage', wrong)).toMatchObject({ code: 2, stdout: '' });
    expect(await run('prepare', 'nats://127.0.0.1:1')).toMatchObject({ code: 1, stderr: expect.stringContaining('Couldn’t reach') });
    expect(existsSync(join(dir.path, 'sync.json'))).toBe(false);
  },
  60_000,
);
