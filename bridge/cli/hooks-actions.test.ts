import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { startCliGateway } from './tests/cli-gateway.ts';

verifies('cli.hooks/row', 'hooks are created, called with curl’s request, tested and removed', async () => {
  await using at = await startCliGateway({ egress: true });
  const run = (...words: string[]): ReturnType<typeof at.run> =>
    at.run(['hooks', ...words, '--port', at.port, '--auth-token', at.bridge.token]);
  expect((await run('list')).stdout).toBe('No hooks.\n');
  const added = await run('add', 'deploys', '--event', 'deploy');
  expect(added.stderr).toContain('Copy the secret now. It won’t be shown again.\n');
  const [address = '', secret = ''] = added.stdout.trim().split('\n');
  expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/hooks\/deploys$/);
  const call = async (token: string): Promise<number> =>
    (
      await fetch(address, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: '{"type":"other"}',
      })
    ).status;
  expect([await call(secret), await call('wrong')]).toEqual([202, 401]);
  expect((await run('list')).stdout).toContain(address);
  expect((await run('test', 'deploys')).stdout).toBe('A sample call is being handled.\n');

  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? '');
    response.writeHead(request.url === '/moved' ? 302 : 204, { location: '/in' }).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const receiver = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect(await run('add', 'alerts', '--send-to', `${receiver}/in`, '--event', 'run.failed')).toMatchObject({
      ...{ code: 1, stderr: expect.stringContaining('https://') as string },
    });
    await run('add', 'alerts', '--send-to', `${receiver}/in`, '--event', 'run.failed', '--allow-private');
    expect((await run('test', 'alerts')).stdout).toBe('The receiver accepted the event (status 204).\n');
    await run('add', 'moved', '--send-to', `${receiver}/moved`, '--event', 'run.failed', '--allow-private');
    expect(await run('test', 'moved')).toMatchObject({ code: 1, stderr: expect.stringContaining('Redirects are not followed') as string });
    // Without the permission, the bridge does not connect, whatever the name resolves to.
    await run('add', 'private', '--send-to', 'https://127.0.0.1:9/in', '--event', 'run.failed');
    expect(await run('test', 'private')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('not on the public internet') as string,
    });
    expect(paths).toEqual(['/in', '/moved']);
  } finally {
    server.close();
  }
  expect(await run('add', 'x', '--preset', 'none')).toMatchObject({ code: 2, stderr: expect.stringContaining('Unknown preset') as string });
  expect(await run('add', 'x', '--send-to', 'https://example.com/', '--event', 'none')).toMatchObject({ code: 2 });
  expect((await run('remove', 'deploys')).stdout).toBe('Removed deploys.\n');
  expect(await run('remove', 'deploys')).toMatchObject({ code: 1, stderr: expect.stringContaining('No hook named') as string });
});
