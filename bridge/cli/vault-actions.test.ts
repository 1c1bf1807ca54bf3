import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { createTempFolder } from '../backup/fixture.ts';
import { createVault, isServed, isVaultName, listVaultNames } from '../vault-folders.ts';
import { runPerch } from './tests/cli-gateway.ts';

verifies('vaults/commands', 'a vault is made once, with a name that its origin can have', async () => {
  using home = createTempFolder();
  const run = (...args: string[]) => runPerch(['vault', 'create', ...args], { PERCH_HOME: home.path });
  expect(await run('work')).toMatchObject({ code: 0, stdout: expect.stringContaining(join('vaults', 'work', 'token')) });
  expect(await run('work')).toMatchObject({ code: 1, stderr: expect.stringContaining('already') });
  expect(await run('../work')).toMatchObject({ code: 2, stdout: '' });
  for (const name of ['Work', 'a--b', '-a', 'a-', 'a.b', '..', '', 'a'.repeat(33)])
    expect({ name, is: isVaultName(name) }).toEqual({ name, is: false });
  for (const name of ['a', 'a-b', '1', 'a'.repeat(32)]) expect({ name, is: isVaultName(name) }).toEqual({ name, is: true });
  expect(await listVaultNames(home.path)).toEqual(['work']);
});

verifies('vaults/commands', 'commands act on the vault that is named, and on no other', async () => {
  using home = createTempFolder();
  const made = await createVault(home.path, 'work', () => {});
  const run = (args: string[], input?: string) => runPerch(args, { PERCH_HOME: home.path }, input);
  expect((await run(['token', '--vault', 'work'])).stdout).toContain(made?.tokenFile);
  expect(await run(['token', '--vault', 'none'])).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('No vault named none'),
  });
  expect((await run(['secrets', 'set', 'NAME', '--vault', 'work', '--port', '1'], 'value')).code).toBe(0);
  expect([join(made?.dir ?? '', 'secrets.env'), join(home.path, 'secrets.env')].map((path) => existsSync(path))).toEqual([true, false]);
  expect(existsSync(join(home.path, 'token'))).toBe(false);
});

verifies('vaults/commands', 'one is removed for good where that is agreed to, and not while a gateway serves it', async () => {
  using home = createTempFolder();
  const made = await createVault(home.path, 'work', () => {});
  const dir = made?.dir ?? '';
  const remove = (...args: string[]) => runPerch(['vault', 'remove', 'work', ...args], { PERCH_HOME: home.path });
  const mark = join(dir, `served-by.${process.pid}`);
  writeFileSync(mark, '');
  expect(await remove('--yes')).toMatchObject({ code: 1, stderr: expect.stringContaining('served by a gateway') });
  rmSync(mark);
  // Mark of a process that has ended: no process id is that high.
  writeFileSync(join(dir, 'served-by.99999999'), '');
  expect(await isServed(dir)).toBe(false);
  expect(await remove()).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
  expect(existsSync(made?.tokenFile ?? '')).toBe(true);
  expect(await remove('--yes')).toMatchObject({ code: 0 });
  expect(existsSync(dir)).toBe(false);
  expect(await listVaultNames(home.path)).toEqual([]);
});
