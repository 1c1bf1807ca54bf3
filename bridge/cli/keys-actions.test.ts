import { expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { KEY_SCOPES } from '#shared/rpc/scopes.ts';
import { startCliGateway } from './tests/cli-gateway.ts';

verifies('cli.keys/row', 'keys are made with scopes, listed, narrowed and revoked', async () => {
  await using at = await startCliGateway();
  const keys = (...words: string[]): ReturnType<typeof at.run> =>
    at.run(['keys', ...words, '--port', at.port, '--auth-token', at.bridge.token]);
  expect((await keys('list')).stdout).toBe('No API keys.\n');
  const plain = await keys('create', 'My script');
  expect(plain.stdout).toMatch(/^sk-perch-[\w-]{43}\n$/);
  expect(plain.stderr).toContain('Scopes: v1.');
  const made = JSON.parse((await keys('create', 'Notes', '--json', '--scope', 'memory', 'files')).stdout) as { key: { id: string } };
  expect(made).toMatchObject({ key: { name: 'Notes', scopes: ['memory', 'files'] } });
  expect((await keys('update', 'Notes', '--scope', 'memory')).stdout).toBe('Notes has the scopes memory.\n');
  expect((await keys('list')).stdout).toMatch(new RegExp(`^${made.key.id} {2}Notes {2}….{4} {2}memory {2}never used$`, 'm'));
  expect((await keys('revoke', 'Notes')).stdout).toBe('Revoked Notes.\n');
  expect(await keys('revoke', 'Notes')).toMatchObject({ code: 1, stderr: expect.stringContaining('No API key "Notes"') as string });
  expect(await keys('create', 'x', '--scope', 'admin')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Unknown scope "admin"') as string,
  });
  const scopes = (await at.run(['keys', 'scopes'])).stdout;
  for (const scope of KEY_SCOPES) expect(scopes).toMatch(new RegExp(`^${scope} +\\S`, 'm'));
});

verifies('cli.channels/row', 'people who wait are listed, let in by their code and removed', async () => {
  await using at = await startCliGateway();
  const run = (...words: string[]): ReturnType<typeof at.run> =>
    at.run(['channels', ...words, '--port', at.port, '--auth-token', at.bridge.token]);
  expect((await run('senders')).stdout).toBe('No senders.\n');
  const { client } = await at.gw.client();
  await client.call('config.patch', { patch: { channels: { telegram: { pairedUsers: [{ id: '7', name: 'ada' }] } } } });
  expect((await run('senders')).stdout).toBe('telegram  let in   @ada (7)\n');
  expect(await run('let-in', 'telegram', 'ABCD2345')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('code is wrong') as string,
  });
  expect((await run('remove', 'telegram', '7')).stdout).toBe('7 is no longer answered.\n');
  expect(JSON.parse((await run('senders', '--json')).stdout)).toEqual({ waiting: [], paired: [] });
});
