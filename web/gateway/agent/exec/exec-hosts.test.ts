import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { GatewayClient } from '#shared/client/client.ts';
import { execPort } from '#shared/ports/exec-port.ts';
import type { EventFrame } from '#shared/rpc/frames.ts';
import type { ExecRequest } from '#shared/rpc/methods/exec-contracts.ts';
import { createExecHandlers } from '../../../../bridge/capabilities/exec/exec-handlers.ts';
import { ProcessKeeper } from '../../../../bridge/processes/process-keeper.ts';
import { type ExecBridge, createExecBridge, findProcesses } from '../../../../bridge/capabilities/exec/tests/exec-bridge.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { FakeBridge, createCapability } from '../../../../tests/support/fake-bridge.ts';
import { waitFor } from '../../../../tests/support/test-gateway.ts';
import { TestHosts } from '../../../../tests/support/test-hosts.ts';
import { getLongTermMemory } from '../../../../tests/support/long-term-memory.ts';

const findRequest = async (client: GatewayClient, requestId: string): Promise<ExecRequest | undefined> =>
  (await client.call('exec.list', {})).requests.find((request) => request.requestId === requestId);
const createRequest = async (client: GatewayClient, command: string, args: string[] = []): Promise<string> =>
  (await client.call('exec.create', { command, args })).request.requestId;
const getStatus = async (client: GatewayClient, requestId: string): Promise<string | undefined> =>
  (await findRequest(client, requestId))?.status;
const readRunCount = async (exec: ExecBridge): Promise<number> =>
  (await readFile(join(exec.home, 'count.txt'), 'utf8').catch(() => '')).split('\n').length - 1;
const writeCountingScript = (exec: ExecBridge): Promise<string> =>
  exec.script('count', `#!/bin/sh\necho ran >> ${exec.home}/count.txt\necho out\n`);
const getEventNames = (events: EventFrame[]): string[] =>
  events.map(({ event }) => event).filter((event) => /^(exec|approval)\./.test(event));

/** Lets the other host serve, and approves there the one question that waits. */
async function approveOnOtherHost({
  hosts,
  two,
  a,
  b,
}: Pick<Awaited<ReturnType<typeof createFixture>>, 'hosts' | 'two' | 'a' | 'b'>): Promise<string> {
  const waiting = async (client: GatewayClient) => (await client.call('approvals.list', {})).approvals;
  await waitFor(async () => (await waiting(a.client)).length === 1);
  hosts.activate(two);
  await waitFor(async () => (await waiting(b.client)).length === 1);
  const id = (await waiting(b.client))[0]?.id ?? '';
  await b.client.call('approvals.resolve', { id, decision: 'approve' });
  return id;
}

/** Two hosts on one journal, each with its own connection to the bridge; the first one is active. */
async function createFixture() {
  const exec = await createExecBridge();
  const second = new FakeBridge(createCapability(execPort, createExecHandlers({ home: exec.home, keeper: new ProcessKeeper(() => {}) })));
  const hosts = new TestHosts();
  const model = (script: string) => (_call: unknown, count: number) =>
    count === 1 ? [{ tool: 'exec', args: { command: script } }] : ['ok'];
  const script = await writeCountingScript(exec);
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
    await using there = await createFixture();
    const { one, two, a, b, exec } = there;
    const pendingSend = a.client.call('chat.send', { message: 'run it' });
    const requestId = await approveOnOtherHost(there);
    await pendingSend;
    await waitFor(() => getEventNames(b.events).filter((kind) => kind === 'exec.resolved').length === 2);
    expect(getEventNames(b.events)).toEqual(
      expect.arrayContaining(['exec.requested', 'approval.requested', 'approval.resolved', 'exec.output']),
    );
    expect(await findRequest(b.client, requestId)).toMatchObject({ status: 'completed', exitCode: 0 });
    expect((await b.client.call('exec.get', { requestId })).request.stdout).toBe('out\n');
    expect(await readRunCount(exec)).toBe(1);
    expect([...one.faults, ...two.faults]).toEqual([]);
  });

  verifies('exec/hosts', "a tool's question is answered on the other", async () => {
    await using there = await createFixture();
    const { two, a } = there;
    await a.client.call('config.set', { key: 'tools.policies', value: { exec: 'auto', 'memory_*': 'ask' } });
    await a.client.call('config.set', { key: 'chat.model', value: 'guide/guide' });
    const pendingSend = a.client.call('chat.send', { message: '/tool memory_add {"text": "Tea"}' });
    await approveOnOtherHost(there);
    await pendingSend;
    await waitFor(async () => (await getLongTermMemory(two.vault).memories()).length === 1);
  });

  verifies('exec/hosts', 'a command running on one host is cancelled from the other', async () => {
    await using there = await createFixture();
    const { hosts, two, a, b } = there;
    const name = `elsewhere${Date.now()}`;
    const requestId = await createRequest(a.client, 'bash', ['-c', `exec -a ${name} sleep 1000`]);
    await a.client.call('exec.approve', { requestId });
    await waitFor(() => findProcesses(name).length > 0);
    hosts.activate(two);
    await waitFor(async () => (await getStatus(b.client, requestId)) === 'running');
    await b.client.call('exec.cancel', { requestId });
    await waitFor(async () => (await getStatus(b.client, requestId)) === 'cancelled');
    await waitFor(() => findProcesses(name).length === 0, 'its end', 4000);
  });

  verifies(
    ['exec/hosts', 'exec/restart'],
    'requests and commands of a lost host are handled by the other, and run at most once',
    async () => {
      await using there = await createFixture();
      const { hosts, one, two, a, b, script, exec } = there;
      // Both bridges know the same program.
      const waits = await createRequest(a.client, 'echo', ['waits']);
      const runs = await createRequest(a.client, 'sh', ['-c', `${script}; exec sleep 1000`]);
      await a.client.call('exec.approve', { requestId: runs });
      void a.client.call('chat.send', { message: 'run it' }).catch(() => {});
      await waitFor(async () => (await a.client.call('approvals.list', {})).count === 2);
      const agents = (await a.client.call('approvals.list', {})).approvals.find(({ agentId }) => agentId !== null)?.id ?? '';
      await waitFor(async () => (await readRunCount(exec)) === 1);
      await one.waitForSync();
      await two.waitForSync();
      // While the first host is present, the other knows of them and does not touch them.
      expect(await Promise.all([waits, runs, agents].map((id) => getStatus(b.client, id)))).toEqual(['pending', 'running', 'pending']);
      one.crash();
      await waitFor(() => one.replicator.state().state === 'away');
      hosts.activate(two);
      await waitFor(async () => (await getStatus(b.client, runs)) === 'failed', 'the end of what ran');
      await waitFor(async () => (await getStatus(b.client, agents)) === 'cancelled', 'the end of what an agent asked');
      await waitFor(async () => (await two.vault.collection('execRequests').get(waits))?.origin === two.origin, 'the one that waits');
      await b.client.call('exec.approve', { requestId: waits });
      // The request is bound to the first bridge's environment and workspace, so this one refuses it: it ends, and nothing unapproved runs.
      await waitFor(async () => !['pending', 'approved', 'running'].includes((await getStatus(b.client, waits)) ?? ''));
      expect(await readRunCount(exec)).toBe(1);
      expect(two.faults).toEqual([]);
    },
  );

  verifies('exec/hosts', 'an approval that comes after the end, from a host that did not know, runs nothing', async () => {
    await using there = await createFixture();
    const { one, two, a, script, exec } = there;
    const requestId = await createRequest(a.client, script);
    await one.waitForSync();
    await two.waitForSync();
    const record = await two.vault.collection('execRequests').get(requestId);
    await a.client.call('exec.deny', { requestId });
    await one.waitForSync();
    await two.waitForSync();
    if (record) await two.vault.collection('execRequests').put({ ...record, status: 'approved' });
    await waitFor(async () => (await getStatus(a.client, requestId)) === 'failed');
    expect((await findRequest(a.client, requestId))?.reason).toContain('too late');
    expect(await readRunCount(exec)).toBe(0);
  });

  verifies(
    ['exec/hosts', 'exec/bound'],
    'an approval that comes once more while it runs, from a host that did not know, does not run it again',
    async () => {
      await using there = await createFixture();
      const { one, two, a, b, exec } = there;
      const requestId = await createRequest(a.client, 'sh', [
        '-c',
        `echo ran >> ${exec.home}/count.txt; while ! test -e go; do sleep 0.01; done`,
      ]);
      await one.waitForSync();
      await two.waitForSync();
      const record = await two.vault.collection('execRequests').get(requestId);
      await a.client.call('exec.approve', { requestId });
      await waitFor(async () => (await readRunCount(exec)) === 1);
      await waitFor(async () => (await getStatus(b.client, requestId)) === 'running');
      if (record) await two.vault.collection('execRequests').put({ ...record, status: 'approved' });
      await waitFor(async () => (await getStatus(a.client, requestId)) === 'approved');
      await writeFile(join(exec.home, 'workspace/go'), '');
      await waitFor(async () => (await getStatus(a.client, requestId)) === 'completed');
      expect(await readRunCount(exec)).toBe(1);
    },
  );
});
