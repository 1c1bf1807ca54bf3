import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { folder } from '../backup/fixture.ts';
import { runPerch } from './tests/gateway.ts';

verifies('vaults/commands', 'a vault is made, listed, acted on and removed; one that is served is not', async () => {
  using home = folder();
  const env = { PERCH_HOME: home.path };
  const run = (...args: string[]) => runPerch(args, env);
  expect(await run('vault', 'create', 'work')).toMatchObject({ code: 0, stdout: expect.stringContaining(join('vaults', 'work', 'token')) });
  expect(await run('vault', 'create', 'work')).toMatchObject({ code: 1, stderr: expect.stringContaining('already') });
  for (const name of ['Work', 'a--b', '-a', 'a.b', '..', '../work', '', 'a'.repeat(65)])
    expect(await run('vault', 'create', '--', name)).toMatchObject({ code: 2, stdout: '' });
  const dir = join(home.path, 'vaults', 'work');
  expect(JSON.parse((await run('vault', 'list', '--json')).stdout)).toEqual({ vaults: [{ name: 'work', dir, served: false }] });

  expect((await run('token', '--vault', 'work')).stdout).toContain(join(dir, 'token'));
  expect(await run('token', '--vault', 'none')).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('there is no vault none'),
  });
  expect(existsSync(join(home.path, 'token'))).toBe(false);
  const secret = await runPerch(['secrets', 'set', 'NAME', '--vault', 'work', '--port', '1'], env, 'value');
  expect([secret.code, existsSync(join(dir, 'secrets.env')), existsSync(join(home.path, 'secrets.env'))]).toEqual([0, true, false]);

  expect(await run('vault', 'remove', 'work')).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
  writeFileSync(join(dir, `served-by.${process.pid}`), '');
  expect(await run('vault', 'remove', 'work', '--yes')).toMatchObject({ code: 1, stderr: expect.stringContaining('a gateway serves') });
  expect(existsSync(join(dir, 'token'))).toBe(true);
  rmSync(join(dir, `served-by.${process.pid}`));
  expect(await run('vault', 'remove', 'work', '--yes')).toMatchObject({ code: 0 });
  expect(existsSync(dir)).toBe(false);
  expect(await run('vault', 'remove', 'work', '--yes')).toMatchObject({ code: 1 });
});
