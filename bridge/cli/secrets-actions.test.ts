import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { createTempFolder } from '../backup/fixture.ts';
import { runPerch } from './tests/cli-gateway.ts';
import { hasKeyring, runInKeyring, createEnvWithoutKeyring } from './tests/test-keyring.ts';

const POSIX = process.platform !== 'win32';
const PORT = ['--port', '1', '--timeout', '200'];

verifies(
  'secrets/command',
  'without a keyring secrets go to secrets.env, readable by the owner only; names are listed, values never',
  async () => {
    if (process.platform !== 'linux') return;
    using dir = createTempFolder();
    const file = join(dir.path, 'secrets.env');
    const run = (args: string[], input = '') => runPerch(['secrets', ...args], createEnvWithoutKeyring(dir.path), input);
    expect((await run(['list'])).stdout).toBe('No secrets\n');
    writeFileSync(file, '# mine\nOTHER=o\nexport KEY="old" # comment\n', { mode: 0o600 });
    for (const value of ['sk-plain', 'with # and = signs', " it's ", 'x"y']) {
      const { code, stdout, stderr } = await run(['set', 'KEY', ...PORT], `${value}\n`);
      expect([code, stdout + stderr]).toEqual([0, expect.stringContaining('secrets.env')]);
      expect(stdout + stderr).not.toContain(value);
      const { readEnvFile } = await import('../capabilities/secrets/env-file.ts');
      expect((await readEnvFile(file)).values).toEqual(
        new Map([
          ['OTHER', 'o'],
          ['KEY', value],
        ]),
      );
      expect(readFileSync(file, 'utf8')).toMatch(/^# mine\nOTHER=o\nKEY=/);
      expect(statSync(file).mode & 0o777).toBe(0o600);
    }
    const list = await run(['list']);
    expect(list.stdout).toBe('KEY    secrets.env\nOTHER  secrets.env\n');
    expect(JSON.parse((await run(['list', '--json'])).stdout)).toEqual({
      secrets: ['KEY', 'OTHER'].map((name) => ({ name, from: 'secrets.env' })),
    });
    expect((await run(['remove', 'KEY', ...PORT])).stdout).toBe('Removed KEY\n');
    expect(readFileSync(file, 'utf8')).toBe('# mine\nOTHER=o\n');
    expect(await run(['remove', 'KEY', ...PORT])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^perch: No secret named KEY[^\n]*\n$/),
    });
  },
);

verifies('secrets/command', 'bad names, empty values, and a file that others can read', async () => {
  if (process.platform !== 'linux') return;
  using dir = createTempFolder();
  const run = (args: string[], input = '') => runPerch(['secrets', ...args, ...PORT], createEnvWithoutKeyring(dir.path), input);
  for (const name of ['9KEY', 'a-b', 'PERCH_TOKEN', 'perch_x', ''])
    expect(await run(['set', name], 'v'), name).toMatchObject({ code: 2, stdout: '' });
  for (const value of ['', '\n', 'two\nlines', 'x'.repeat(4097), '\u0001'])
    expect(await run(['set', 'KEY'], value)).toMatchObject({ code: 2, stdout: '' });
  expect(existsSync(join(dir.path, 'secrets.env'))).toBe(false);
  writeFileSync(join(dir.path, 'secrets.env'), 'KEY=k\n');
  if (POSIX) chmodSync(join(dir.path, 'secrets.env'), 0o644);
  expect(await run(['set', 'KEY'], 'v')).toMatchObject({ code: 1, stderr: expect.stringContaining('other users can read') });
  expect(readFileSync(join(dir.path, 'secrets.env'), 'utf8')).toBe('KEY=k\n');
});

test.runIf(hasKeyring)(
  'a real keyring: set, listed, found by the bridge, removed (skipped where gnome-keyring and dbus are not installed)',
  () => {
    using dir = createTempFolder();
    const perch = `${process.execPath} ${join(import.meta.dirname, 'main.ts')} secrets`;
    const reader = `${process.execPath} ${join(import.meta.dirname, '../capabilities/secrets/keyring-reader.ts')}`;
    const port = PORT.join(' ');
    const { stdout, stderr } = runInKeyring(
      dir.path,
      `echo of-the-keyring | ${perch} set KEY ${port} && ${perch} list && ${reader} KEY && echo && ${perch} remove KEY ${port} && ${reader} KEY`,
    );
    expect(stdout, stderr).toBe('Saved KEY in the system keyring\nKEY  keyring\n{"KEY":"of-the-keyring"}\nRemoved KEY\n{}');
    expect(existsSync(join(dir.path, 'secrets.env'))).toBe(false);
  },
);
