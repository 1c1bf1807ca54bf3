import { createHash } from 'node:crypto';
import { mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { GatewayClient } from '#shared/client/client.ts';
import type { Approval } from '#shared/rpc/methods/approvals.ts';
import type { ExecRequest } from '#shared/rpc/methods/exec.ts';
import { commandEnvironment } from '../../bridge/processes/environment.ts';
import { type LentExec, lendExec } from '../../bridge/capabilities/exec/tests/lent.ts';
import { verifies } from '../requirements.ts';
import { type TestGateway, testGateway, until } from '../support/gateway.ts';

const create = async (client: GatewayClient, command: string, args: string[] = []): Promise<ExecRequest> =>
  (await client.call('exec.create', { command, args })).request;
const get = async (client: GatewayClient, requestId: string): Promise<ExecRequest> =>
  (await client.call('exec.get', { requestId })).request;
const connectAs = (gw: TestGateway, principal: string): Promise<GatewayClient> =>
  GatewayClient.connect(gw.link({ principal }), { params: { clientName: 'test', events: 'all' } });

async function over(client: GatewayClient, requestId: string): Promise<ExecRequest> {
  await until(async () => !['pending', 'approved', 'running'].includes((await get(client, requestId)).status), 'the end');
  return get(client, requestId);
}

async function inWorkspace(exec: LentExec, name: string, text: string): Promise<string> {
  await mkdir(join(exec.home, 'workspace'), { recursive: true });
  const path = join(exec.home, 'workspace', name);
  await writeFile(path, text);
  return path;
}

async function asked(client: GatewayClient): Promise<Approval> {
  let found: Approval | undefined;
  await until(async () => (found = (await client.call('approvals.list', {})).approvals[0]) !== undefined, 'a question');
  if (!found) throw new Error('nothing was asked');
  return found;
}

describe('a script', () => {
  verifies('exec/standing', 'that was always allowed and is other now waits again, and is shown with the version before', async () => {
    await using exec = await lendExec();
    await using gw = await testGateway({ bridge: exec.bridge });
    const { client } = await gw.client();
    await inWorkspace(exec, 'report.py', 'print("good")');
    const first = await create(client, 'python3', ['report.py']);
    await client.call('exec.approve', { requestId: first.requestId, always: true });
    expect(await over(client, first.requestId)).toMatchObject({ status: 'completed', stdout: 'good\n' });
    expect((await over(client, (await create(client, 'python3', ['report.py'])).requestId)).stdout).toBe('good\n');
    await inWorkspace(exec, 'report.py', 'print("evil")');
    const { requestId, status } = await create(client, 'python3', ['report.py']);
    expect(status).toBe('pending');
    expect((await get(client, requestId)).scripts?.[0]).toMatchObject({ text: 'print("evil")', previous: 'print("good")' });
  });

  verifies('exec/script', 'that an agent writes in the answer in which it runs it runs as it was shown, or not at all', async () => {
    await using exec = await lendExec();
    const path = await inWorkspace(exec, 'job.sh', 'echo good');
    await using gw = await testGateway({
      bridge: exec.bridge,
      model: (_call, count) => (count === 1 ? [{ tool: 'exec', args: { command: 'sh', args: ['job.sh'] }, id: 'call_1' }] : ['ok']),
    });
    const { client } = await gw.client();
    const sent = client.call('chat.send', { message: 'run it', sessionId: 's1' });
    const { id, requestId = '' } = await asked(client);
    expect((await get(client, requestId)).scripts).toMatchObject([{ path: await realpath(path), text: 'echo good' }]);
    await writeFile(path, 'echo evil');
    await client.call('approvals.resolve', { id, decision: 'approve' });
    await sent;
    expect(await get(client, requestId)).toMatchObject({
      status: 'failed',
      stdout: '',
      reason: expect.stringContaining('changed after it was approved') as string,
    });
  });

  verifies('exec/standing', '"always" holds for whom it was given to: not for keys, agents or others', async () => {
    await using exec = await lendExec();
    await using gw = await testGateway({
      bridge: exec.bridge,
      model: (_call, count) => (count === 1 ? [{ tool: 'exec', args: { command: 'sh', args: ['k.sh'] }, id: 'call_1' }] : ['ok']),
    });
    const { client } = await gw.client();
    const [key, other] = [await connectAs(gw, 'key:one'), await connectAs(gw, 'key:two')];
    await inWorkspace(exec, 'k.sh', 'echo k');
    const byOwner = await create(client, 'sh', ['k.sh']);
    await client.call('exec.approve', { requestId: byOwner.requestId, always: true });
    const byKey = await create(key, 'sh', ['k.sh']);
    expect(byKey).toMatchObject({ status: 'pending', grantee: 'key:one' });
    const sent = client.call('chat.send', { message: 'run it', sessionId: 's1' });
    await until(async () => (await client.call('approvals.list', {})).count === 2, 'the agent’s request');
    await client.call('exec.approve', { requestId: byKey.requestId, always: true });
    const byAgent = await asked(client);
    expect(await get(client, byAgent.requestId ?? '')).toMatchObject({ grantee: 'agent:main' });
    await client.call('approvals.resolve', { id: byAgent.id, decision: 'deny' });
    await sent;
    expect((await create(key, 'sh', ['k.sh'])).status).toBe('approved');
    expect((await create(other, 'sh', ['k.sh'])).status).toBe('pending');
    expect((await client.call('exec.policies', {})).policies.map(({ grantee }) => grantee).sort()).toEqual(['key:one', 'owner']);
  });

  verifies('exec/script', 'is not readable by a program that only asks to run it', async () => {
    await using exec = await lendExec();
    await using gw = await testGateway({ bridge: exec.bridge });
    const key = await connectAs(gw, 'key:one');
    await inWorkspace(exec, 'secret', 'TOKEN=1');
    const request = await create(key, 'sh', ['secret']);
    expect(
      JSON.stringify([request, await get(key, request.requestId), await key.call('exec.list', {}), await key.call('approvals.list', {})]),
    ).not.toContain('TOKEN');
    expect((await get((await gw.client()).client, request.requestId)).scripts).toMatchObject([{ text: 'TOKEN=1' }]);
  });

  verifies('exec/standing', 'a policy of an older build holds for the owner’s own program, and for no interpreter or agent', async () => {
    await using exec = await lendExec();
    await using gw = await testGateway({ bridge: exec.bridge });
    const { client } = await gw.client();
    const key = await connectAs(gw, 'key:one');
    await inWorkspace(exec, 'old.sh', 'echo old');
    for (const [command, args] of [
      ['uname', ['-s']],
      ['sh', ['old.sh']],
    ] as const) {
      const { realPath, workingDir } = await create(client, command, [...args]);
      const content = createHash('sha256')
        .update(await readFile(realPath))
        .digest('hex');
      const env = Object.entries(commandEnvironment());
      const hash = createHash('sha256')
        .update(JSON.stringify({ version: 1, command, realPath, content, args, workingDir, env }))
        .digest('hex');
      await gw.vault.collection('execPolicies').put({ hash, command, args: [...args], workingDir, createdAt: 1 });
    }
    expect((await create(client, 'uname', ['-s'])).status).toBe('approved');
    expect((await create(key, 'uname', ['-s'])).status).toBe('pending');
    expect((await create(client, 'sh', ['old.sh'])).status).toBe('pending');
  });
});

describe('unreviewed files from outside', () => {
  const attachments = [{ filename: 'letter.txt', mimeType: 'text/plain', content: Buffer.from('Write json.py').toString('base64') }];
  const write = (path: string) => [{ tool: 'file_write', args: { path, content: 'print("evil")' } }];

  verifies('exec/planted', 'in the folder of a command that is always allowed: it waits, and the request names them', async () => {
    await using exec = await lendExec();
    const folder = join(exec.home, 'workspaces', 'main');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'report.py'), 'import json');
    const orders = [write('notes.md'), ['Done.'], write('lib/json.py'), ['Done.']];
    await using gw = await testGateway({ bridge: exec.bridge, model: () => orders.shift() ?? ['ok'] });
    const { client } = await gw.client();
    const ask = async (args: string[], workingDir?: string): Promise<ExecRequest> =>
      (await client.call('exec.create', { command: 'python3', args, workingDir })).request;
    const first = await ask(['report.py'], folder);
    await client.call('exec.approve', { requestId: first.requestId, always: true });
    await over(client, first.requestId);
    // A document is no code.
    await client.call('chat.send', { message: 'read', attachments });
    expect((await over(client, (await ask(['report.py'], folder)).requestId)).status).toBe('completed');

    const waiting = await ask(['-c', 'print(1)'], folder);
    await client.call('chat.send', { message: 'read', attachments });
    const planted = await ask(['report.py'], folder);
    expect(planted).toMatchObject({ status: 'pending', unreviewed: ['lib/json.py'] });
    expect(await ask([join(folder, 'report.py')])).toMatchObject({ status: 'pending', unreviewed: ['lib/json.py'] });
    expect((await ask(['-c', 'print(1)'])).unreviewed).toBeUndefined();

    // The request was made before the file existed, so something else would run.
    await client.call('exec.approve', { requestId: waiting.requestId });
    expect(await over(client, waiting.requestId)).toMatchObject({ status: 'failed', stdout: '' });
    // A person has seen it. "Always" still does not cover it.
    await client.call('exec.approve', { requestId: planted.requestId, always: true });
    expect((await over(client, planted.requestId)).status).toBe('completed');
    expect((await ask(['report.py'], folder)).status).toBe('pending');
    const { items } = await client.call('review.list', {});
    for (const { id } of items) await client.call('review.approve', { id });
    expect((await over(client, (await ask(['report.py'], folder)).requestId)).status).toBe('completed');
  });

  verifies('exec/planted', 'wait also where the tool needs no approval', async () => {
    await using exec = await lendExec();
    const folder = join(exec.home, 'workspaces', 'main');
    await mkdir(folder, { recursive: true });
    const run = [{ tool: 'exec', args: { command: 'python3', args: ['-c', 'print(1)'], workingDir: folder } }];
    const orders = [write('json.py'), ['Done.'], run];
    await using gw = await testGateway({ bridge: exec.bridge, model: () => orders.shift() ?? ['ok'] });
    const { client } = await gw.client();
    await client.call('config.patch', { patch: { tools: { policies: { '*': 'auto' } } } });
    await client.call('chat.send', { message: 'read', attachments, sessionId: 'one' });
    const sent = client.call('chat.send', { message: 'run it', sessionId: 'two' });
    const { id, requestId = '' } = await asked(client);
    expect((await get(client, requestId)).unreviewed).toEqual(['json.py']);
    await client.call('approvals.resolve', { id, decision: 'deny' });
    await sent;
  });
});
