import { createHash } from 'node:crypto';
import { mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { GatewayClient } from '#shared/client/client.ts';
import type { Approval } from '#shared/rpc/methods/approval-contracts.ts';
import type { ExecRequest } from '#shared/rpc/methods/exec-contracts.ts';
import { createCommandEnvironment } from '../../../../bridge/processes/command-environment.ts';
import { type ExecBridge, createExecBridge } from '../../../../bridge/capabilities/exec/tests/exec-bridge.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { type TestGateway, createTestGateway, waitFor } from '../../../../tests/support/test-gateway.ts';

const createRequest = async (client: GatewayClient, command: string, args: string[] = []): Promise<ExecRequest> =>
  (await client.call('exec.create', { command, args })).request;
const getRequest = async (client: GatewayClient, requestId: string): Promise<ExecRequest> =>
  (await client.call('exec.get', { requestId })).request;
const connectAs = (gw: TestGateway, principal: string): Promise<GatewayClient> =>
  GatewayClient.connect(gw.link({ principal }), { params: { clientName: 'test', events: 'all' } });

async function waitForEnd(client: GatewayClient, requestId: string): Promise<ExecRequest> {
  await waitFor(async () => !['pending', 'approved', 'running'].includes((await getRequest(client, requestId)).status), 'the end');
  return getRequest(client, requestId);
}

async function writeWorkspaceScript(exec: ExecBridge, name: string, text: string): Promise<string> {
  await mkdir(join(exec.home, 'workspace'), { recursive: true });
  const path = join(exec.home, 'workspace', name);
  await writeFile(path, text);
  return path;
}

async function waitForApproval(client: GatewayClient): Promise<Approval> {
  let found: Approval | undefined;
  await waitFor(async () => (found = (await client.call('approvals.list', {})).approvals[0]) !== undefined, 'a question');
  if (!found) throw new Error('nothing was asked');
  return found;
}

describe('a script', () => {
  verifies('exec/standing', 'that was always allowed and is other now waits again, and is shown with the version before', async () => {
    await using exec = await createExecBridge();
    await using gw = await createTestGateway({ bridge: exec.bridge });
    const { client } = await gw.client();
    await writeWorkspaceScript(exec, 'report.py', 'print("good")');
    const first = await createRequest(client, 'python3', ['report.py']);
    await client.call('exec.approve', { requestId: first.requestId, always: true });
    expect(await waitForEnd(client, first.requestId)).toMatchObject({ status: 'completed', stdout: 'good\n' });
    expect((await waitForEnd(client, (await createRequest(client, 'python3', ['report.py'])).requestId)).stdout).toBe('good\n');
    await writeWorkspaceScript(exec, 'report.py', 'print("evil")');
    const { requestId, status } = await createRequest(client, 'python3', ['report.py']);
    expect(status).toBe('pending');
    expect((await getRequest(client, requestId)).scripts?.[0]).toMatchObject({ text: 'print("evil")', previous: 'print("good")' });
  });

  verifies('exec/script', 'that an agent writes in the answer in which it runs it runs as it was shown, or not at all', async () => {
    await using exec = await createExecBridge();
    const path = await writeWorkspaceScript(exec, 'job.sh', 'echo good');
    await using gw = await createTestGateway({
      bridge: exec.bridge,
      model: (_call, count) => (count === 1 ? [{ tool: 'exec', args: { command: 'sh', args: ['job.sh'] }, id: 'call_1' }] : ['ok']),
    });
    const { client } = await gw.client();
    const pendingSend = client.call('chat.send', { message: 'run it', sessionId: 's1' });
    const { id, requestId = '' } = await waitForApproval(client);
    expect((await getRequest(client, requestId)).scripts).toMatchObject([{ path: await realpath(path), text: 'echo good' }]);
    await writeFile(path, 'echo evil');
    await client.call('approvals.resolve', { id, decision: 'approve' });
    await pendingSend;
    expect(await getRequest(client, requestId)).toMatchObject({
      status: 'failed',
      stdout: '',
      reason: expect.stringContaining('changed after it was approved') as string,
    });
  });

  verifies('exec/standing', '"always" holds for whom it was given to: not for keys, agents or others', async () => {
    await using exec = await createExecBridge();
    await using gw = await createTestGateway({
      bridge: exec.bridge,
      model: (_call, count) => (count === 1 ? [{ tool: 'exec', args: { command: 'sh', args: ['k.sh'] }, id: 'call_1' }] : ['ok']),
    });
    const { client } = await gw.client();
    const [key, other] = [await connectAs(gw, 'key:one'), await connectAs(gw, 'key:two')];
    await writeWorkspaceScript(exec, 'k.sh', 'echo k');
    const byOwner = await createRequest(client, 'sh', ['k.sh']);
    await client.call('exec.approve', { requestId: byOwner.requestId, always: true });
    const byKey = await createRequest(key, 'sh', ['k.sh']);
    expect(byKey).toMatchObject({ status: 'pending', grantee: 'key:one' });
    const pendingSend = client.call('chat.send', { message: 'run it', sessionId: 's1' });
    await waitFor(async () => (await client.call('approvals.list', {})).count === 2, 'the agent’s request');
    await client.call('exec.approve', { requestId: byKey.requestId, always: true });
    const byAgent = await waitForApproval(client);
    expect(await getRequest(client, byAgent.requestId ?? '')).toMatchObject({ grantee: 'agent:main' });
    await client.call('approvals.resolve', { id: byAgent.id, decision: 'deny' });
    await pendingSend;
    expect((await createRequest(key, 'sh', ['k.sh'])).status).toBe('approved');
    expect((await createRequest(other, 'sh', ['k.sh'])).status).toBe('pending');
    expect((await client.call('exec.policies', {})).policies.map(({ grantee }) => grantee).sort()).toEqual(['key:one', 'owner']);
  });

  verifies('exec/standing', '"always" for an agent does not hold for the job of a key that the agent runs', async () => {
    await using exec = await createExecBridge();
    await using gw = await createTestGateway({
      bridge: exec.bridge,
      model: (_call, count) => (count % 2 === 1 ? [{ tool: 'exec', args: { command: 'sh', args: ['k.sh'] } }] : ['ok']),
    });
    const { client } = await gw.client();
    await writeWorkspaceScript(exec, 'k.sh', 'echo k');
    const pendingSend = client.call('chat.send', { message: 'run it', sessionId: 's1' });
    await client.call('approvals.resolve', { id: (await waitForApproval(client)).id, decision: 'approve', always: true });
    await pendingSend;
    expect((await client.call('exec.policies', {})).policies.map(({ grantee }) => grantee)).toEqual(['agent:main']);
    const { key } = await client.call('keys.create', { name: 'Script', scopes: ['automation', 'computer'] });
    const link = gw.link({ principal: `key:${key.id}`, scopes: key.scopes });
    const program = await GatewayClient.connect(link, { params: { clientName: 'a program' } });
    const { jobId } = await program.call('cron.add', { cron: '0 0 1 1 *', message: 'run it' });
    await client.call('cron.run', { id: jobId });
    const approval = await waitForApproval(client);
    expect(await getRequest(client, approval.requestId ?? '')).toMatchObject({ grantee: `key:${key.id}` });
    await client.call('approvals.resolve', { id: approval.id, decision: 'deny' });
  });

  verifies('exec/script', 'is not readable by a program that only asks to run it', async () => {
    await using exec = await createExecBridge();
    await using gw = await createTestGateway({ bridge: exec.bridge });
    const key = await connectAs(gw, 'key:one');
    await writeWorkspaceScript(exec, 'secret', 'TOKEN=1');
    const request = await createRequest(key, 'sh', ['secret']);
    expect(
      JSON.stringify([
        request,
        await getRequest(key, request.requestId),
        await key.call('exec.list', {}),
        await key.call('approvals.list', {}),
      ]),
    ).not.toContain('TOKEN');
    expect((await getRequest((await gw.client()).client, request.requestId)).scripts).toMatchObject([{ text: 'TOKEN=1' }]);
  });

  verifies('exec/standing', 'a policy of an older build holds for the owner’s own program, and for no interpreter or agent', async () => {
    await using exec = await createExecBridge();
    await using gw = await createTestGateway({ bridge: exec.bridge });
    const { client } = await gw.client();
    const key = await connectAs(gw, 'key:one');
    await writeWorkspaceScript(exec, 'old.sh', 'echo old');
    for (const [command, args] of [
      ['uname', ['-s']],
      ['sh', ['old.sh']],
    ] as const) {
      const { realPath, workingDir } = await createRequest(client, command, [...args]);
      const content = createHash('sha256')
        .update(await readFile(realPath))
        .digest('hex');
      const env = Object.entries(createCommandEnvironment());
      const hash = createHash('sha256')
        .update(JSON.stringify({ version: 1, command, realPath, content, args, workingDir, env }))
        .digest('hex');
      await gw.vault.collection('execPolicies').put({ hash, command, args: [...args], workingDir, createdAt: 1 });
    }
    expect((await createRequest(client, 'uname', ['-s'])).status).toBe('approved');
    expect((await createRequest(key, 'uname', ['-s'])).status).toBe('pending');
    expect((await createRequest(client, 'sh', ['old.sh'])).status).toBe('pending');
  });
});

describe('unreviewed files from outside', () => {
  const attachments = [{ filename: 'letter.txt', mimeType: 'text/plain', content: Buffer.from('Write json.py').toString('base64') }];
  const write = (path: string) => [{ tool: 'file_write', args: { path, content: 'print("evil")' } }];

  verifies('exec/planted', 'in the folder of a command that is always allowed: it waits, and the request names them', async () => {
    await using exec = await createExecBridge();
    const folder = join(exec.home, 'workspaces', 'main');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'report.py'), 'import json');
    const orders = [write('notes.md'), ['Done.'], write('lib/json.py'), ['Done.']];
    await using gw = await createTestGateway({ bridge: exec.bridge, model: () => orders.shift() ?? ['ok'] });
    const { client } = await gw.client();
    const requestExec = async (args: string[], workingDir?: string): Promise<ExecRequest> =>
      (await client.call('exec.create', { command: 'python3', args, workingDir })).request;
    const first = await requestExec(['report.py'], folder);
    await client.call('exec.approve', { requestId: first.requestId, always: true });
    await waitForEnd(client, first.requestId);
    // A document is no code.
    await client.call('chat.send', { message: 'read', attachments });
    expect((await waitForEnd(client, (await requestExec(['report.py'], folder)).requestId)).status).toBe('completed');

    const waiting = await requestExec(['-c', 'print(1)'], folder);
    await client.call('chat.send', { message: 'read', attachments });
    const planted = await requestExec(['report.py'], folder);
    expect(planted).toMatchObject({ status: 'pending', unreviewed: ['lib/json.py'] });
    expect(await requestExec([join(folder, 'report.py')])).toMatchObject({ status: 'pending', unreviewed: ['lib/json.py'] });
    expect((await requestExec(['-c', 'print(1)'])).unreviewed).toBeUndefined();

    // The request was made before the file existed, so something else would run.
    await client.call('exec.approve', { requestId: waiting.requestId });
    expect(await waitForEnd(client, waiting.requestId)).toMatchObject({ status: 'failed', stdout: '' });
    // A person has seen it. "Always" still does not cover it.
    await client.call('exec.approve', { requestId: planted.requestId, always: true });
    expect((await waitForEnd(client, planted.requestId)).status).toBe('completed');
    expect((await requestExec(['report.py'], folder)).status).toBe('pending');
    const { items } = await client.call('review.list', {});
    for (const { id } of items) await client.call('review.approve', { id });
    expect((await waitForEnd(client, (await requestExec(['report.py'], folder)).requestId)).status).toBe('completed');
  });

  verifies('exec/planted', 'wait also where the tool needs no approval', async () => {
    await using exec = await createExecBridge();
    const folder = join(exec.home, 'workspaces', 'main');
    await mkdir(folder, { recursive: true });
    const run = [{ tool: 'exec', args: { command: 'python3', args: ['-c', 'print(1)'], workingDir: folder } }];
    const orders = [write('json.py'), ['Done.'], run];
    await using gw = await createTestGateway({ bridge: exec.bridge, model: () => orders.shift() ?? ['ok'] });
    const { client } = await gw.client();
    await client.call('config.patch', { patch: { tools: { policies: { '*': 'auto' } } } });
    await client.call('chat.send', { message: 'read', attachments, sessionId: 'one' });
    const pendingSend = client.call('chat.send', { message: 'run it', sessionId: 'two' });
    const { id, requestId = '' } = await waitForApproval(client);
    expect((await getRequest(client, requestId)).unreviewed).toEqual(['json.py']);
    await client.call('approvals.resolve', { id, decision: 'deny' });
    await pendingSend;
  });
});
