import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { GatewayClient } from '#shared/client/client.ts';
import { execPort } from '#shared/ports/exec.ts';
import type { EventFrame } from '#shared/rpc/frames.ts';
import type { ExecRequest } from '#shared/rpc/methods/exec.ts';
import { execHandlers } from '../../bridge/capabilities/exec/exec.ts';
import { Keeper } from '../../bridge/processes/keep.ts';
import { type LentExec, lendExec, processesWith } from '../../bridge/capabilities/exec/tests/lent.ts';
import { verifies } from '../requirements.ts';
import { FakeBridge, lend } from '../support/fake-bridge.ts';
import { until } from '../support/gateway.ts';
import { TestHosts } from '../support/hosts.ts';
import { remembered } from '../support/remembered.ts';

const known = async (client: GatewayClient, requestId: string): Promise<ExecRequest | undefined> =>
  (await client.call('exec.list', {})).requests.find((request) => request.requestId === requestId);
const create = async (client: GatewayClient, command: string, args: string[] = []): Promise<string> =>
  (await client.call('exec.create', { command, args })).request.requestId;
const status = async (client: GatewayClient, requestId: string): Promise<string | undefined> => (await known(client, requestId))?.status;
const counted = async (exec: LentExec): Promise<number> =>
  (await readFile(join(exec.home, 'count.txt'), 'utf8').catch(() => '')).split('\n').length - 1;
const counting = (exec: LentExec): Promise<string> => exec.script('count', `#!/bin/sh\necho ran >> ${exec.home}/count.txt\necho out\n`);
const kinds = (events: EventFrame[]): string[] => events.map(({ event }) => event).filter((event) => /^(exec|approval)\./.test(event));

/** Lets the other host serve, and approves there the one question that waits. */
async function approveThere({ hosts, two, a, b }: Pick<Awaited<ReturnType<typeof setUp>>, 'hosts' | 'two' | 'a' | 'b'>): Promise<string> {
  const waiting = async (client: GatewayClient) => (await client.call('approvals.list', {})).approvals;
  await until(async () => (await waiting(a.client)).length === 1);
  hosts.serve(two);
  await until(async () => (await waiting(b.client)).length === 1);
  const id = (await waiting(b.client))[0]?.id ?? '';
  await b.client.call('approvals.resolve', { id, decision: 'approve' });
  return id;
}

/** Two hosts on one journal, each with its own connection to the bridge; the first one is active. */
async function setUp() {
  const exec = await lendExec();
  const second = new FakeBridge(lend(execPort, execHandlers({ home: exec.home, keeper: new Keeper(() => {}) })));
  const hosts = new TestHosts();
  const model = (script: string) => (_call: unknown, count: number) =>
    count === 1 ? [{ tool: 'exec', args: { command: script } }] : ['ok'];
  const script = await counting(exec);
  const one = await hosts.host({ bridge: exec.bridge, model: model(script) });
  const two = await hosts.host({ bridge: second });
  const [a, b] = [await one.client(), await two.client()];
  return {
    hosts,
    one,
    two,
    a,
    b,
    script,
    exec,
    async [Symbol.asyncDispose]() {
      for (const host of [one, two]) await host[Symbol.asyncDispose]();
      second.detach();
      await exec[Symbol.asyncDispose]();
    },
  };
}

describe('two hosts', () => {
  verifies('exec/hosts', "an agent's command waiting on one host is approved on the other, which receives its output and end", async () => {
    await using there = await setUp();
    const { one, two, a, b, exec } = there;
    const sent = a.client.call('chat.send', { message: 'run it' });
    const requestId = await approveThere(there);
    await sent;
    await until(() => kinds(b.events).filter((kind) => kind === 'exec.resolved').length === 2);
    expect(kinds(b.events)).toEqual(expect.arrayContaining(['exec.requested', 'approval.requested', 'approval.resolved', 'exec.output']));
    expect(await known(b.client, requestId)).toMatchObject({ status: 'completed', exitCode: 0 });
    expect((await b.client.call('exec.get', { requestId })).request.stdout).toBe('out\n');
    expect(await counted(exec)).toBe(1);
    expect([...one.faults, ...two.faults]).toEqual([]);
  });

  verifies('exec/hosts', "a tool's question is answered on the other", async () => {
    await using there = await setUp();
    const { two, a } = there;
    await a.client.call('config.set', { key: 'tools.policies', value: { exec: 'auto', 'memory_*': 'ask' } });
    await a.client.call('config.set', { key: 'chat.model', value: 'guide/guide' });
    const sent = a.client.call('chat.send', { message: '/tool memory_add {"text": "Tea"}' });
    await approveThere(there);
    await sent;
    await until(async () => (await remembered(two.vault).memories()).length === 1);
  });

  verifies('exec/hosts', 'a command running on one host is cancelled from the other', async () => {
    await using there = await setUp();
    const { hosts, two, a, b } = there;
    const name = `elsewhere${Date.now()}`;
    const requestId = await create(a.client, 'bash', ['-c', `exec -a ${name} sleep 1000`]);
    await a.client.call('exec.approve', { requestId });
    await until(() => processesWith(name).length > 0);
    hosts.serve(two);
    await until(async () => (await status(b.client, requestId)) === 'running');
    await b.client.call('exec.cancel', { requestId });
    await until(async () => (await status(b.client, requestId)) === 'cancelled');
    await until(() => processesWith(name).length === 0, 'its end', 4000);
  });

  verifies(
    ['exec/hosts', 'exec/restart'],
    'requests and commands of a lost host are handled by the other, and run at most once',
    async () => {
      await using there = await setUp();
      const { hosts, one, two, a, b, script, exec } = there;
      // Both bridges know the same program.
      const waits = await create(a.client, 'echo', ['waits']);
      const runs = await create(a.client, 'sh', ['-c', `${script}; exec sleep 1000`]);
      await a.client.call('exec.approve', { requestId: runs });
      void a.client.call('chat.send', { message: 'run it' }).catch(() => {});
      await until(async () => (await a.client.call('approvals.list', {})).count === 2);
      const agents = (await a.client.call('approvals.list', {})).approvals.find(({ agentId }) => agentId !== null)?.id ?? '';
      await until(async () => (await counted(exec)) === 1);
      await one.synced();
      await two.synced();
      // While the first host is present, the other knows of them and does not touch them.
      expect(await Promise.all([waits, runs, agents].map((id) => status(b.client, id)))).toEqual(['pending', 'running', 'pending']);
      one.crash();
      await until(() => one.replicator.state().state === 'away');
      hosts.serve(two);
      await until(async () => (await status(b.client, runs)) === 'failed', 'the end of what ran');
      await until(async () => (await status(b.client, agents)) === 'cancelled', 'the end of what an agent asked');
      await until(async () => (await two.vault.collection('execRequests').get(waits))?.origin === two.origin, 'the one that waits');
      await b.client.call('exec.approve', { requestId: waits });
      // The request is bound to the first bridge's environment and workspace, so this one refuses it: it ends, and nothing unapproved runs.
      await until(async () => !['pending', 'approved', 'running'].includes((await status(b.client, waits)) ?? ''));
      expect(await counted(exec)).toBe(1);
      expect(two.faults).toEqual([]);
    },
  );

  verifies('exec/hosts', 'an approval that comes after the end, from a host that did not know, runs nothing', async () => {
    await using there = await setUp();
    const { one, two, a, script, exec } = there;
    const requestId = await create(a.client, script);
    await one.synced();
    await two.synced();
    const record = await two.vault.collection('execRequests').get(requestId);
    await a.client.call('exec.deny', { requestId });
    await one.synced();
    await two.synced();
    if (record) await two.vault.collection('execRequests').put({ ...record, status: 'approved' });
    await until(async () => (await status(a.client, requestId)) === 'failed');
    expect((await known(a.client, requestId))?.reason).toContain('too late');
    expect(await counted(exec)).toBe(0);
  });

  verifies(
    ['exec/hosts', 'exec/bound'],
    'an approval that comes once more while it runs, from a host that did not know, does not run it again',
    async () => {
      await using there = await setUp();
      const { one, two, a, b, exec } = there;
      const requestId = await create(a.client, 'sh', ['-c', `echo ran >> ${exec.home}/count.txt; while ! test -e go; do sleep 0.01; done`]);
      await one.synced();
      await two.synced();
      const record = await two.vault.collection('execRequests').get(requestId);
      await a.client.call('exec.approve', { requestId });
      await until(async () => (await counted(exec)) === 1);
      await until(async () => (await status(b.client, requestId)) === 'running');
      if (record) await two.vault.collection('execRequests').put({ ...record, status: 'approved' });
      await until(async () => (await status(a.client, requestId)) === 'approved');
      await writeFile(join(exec.home, 'workspace/go'), '');
      await until(async () => (await status(a.client, requestId)) === 'completed');
      expect(await counted(exec)).toBe(1);
    },
  );
});
