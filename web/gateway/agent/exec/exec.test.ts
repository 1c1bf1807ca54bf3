import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { IDBFactory } from 'fake-indexeddb';
import { describe, expect } from 'vitest';
import type { GatewayClient } from '#shared/client/client.ts';
import type { EventFrame } from '#shared/rpc/frames.ts';
import type { ExecRequest } from '#shared/rpc/methods/exec-contracts.ts';
import { type ExecBridge, createExecBridge, findProcesses } from '../../../../bridge/capabilities/exec/tests/exec-bridge.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { createTestGateway, waitFor } from '../../../../tests/support/test-gateway.ts';

const createRequest = async (client: GatewayClient, command: string, args: string[] = []): Promise<ExecRequest> =>
  (await client.call('exec.create', { command, args })).request;
const getRequest = async (client: GatewayClient, requestId: string): Promise<ExecRequest> =>
  (await client.call('exec.get', { requestId })).request;

/** Resolves with the request once it is over. */
async function waitForEnd(client: GatewayClient, requestId: string): Promise<ExecRequest> {
  await waitFor(async () => !['pending', 'approved', 'running'].includes((await getRequest(client, requestId)).status), 'the end');
  return getRequest(client, requestId);
}
const getResolvedEvents = (events: EventFrame[]): unknown[] =>
  events.flatMap(({ event, payload }) => (event === 'exec.resolved' ? [(payload as { request: ExecRequest }).request.status] : []));
const fileExists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
/** A script that leaves a line each time it runs. */
const writeCountingScript = (exec: ExecBridge): Promise<string> =>
  exec.script('count', `#!/bin/sh\necho ran >> ${exec.home}/count.txt\necho "$@"\n`);
const readRunCount = async (exec: ExecBridge): Promise<number> =>
  (await readFile(join(exec.home, 'count.txt'), 'utf8').catch(() => '')).split('\n').length - 1;

describe('a request', () => {
  verifies(['exec/create', 'exec/decide', 'exec/states', 'exec/list'], 'waits, is approved, runs, and is over', async () => {
    await using exec = await createExecBridge();
    await using gw = await createTestGateway({ bridge: exec.bridge, clock: new FakeClock() });
    const { client, events } = await gw.client();
    const script = await writeCountingScript(exec);
    const request = await createRequest(client, script, ['a b', '$HOME']);
    expect(request).toEqual({
      requestId: expect.any(String) as string,
      command: script,
      args: ['a b', '$HOME'],
      workingDir: join(exec.home, 'workspace'),
      agentId: null,
      sessionId: null,
      runId: null,
      status: 'pending',
      createdAt: expect.any(Number) as number,
      expiresAt: request.createdAt + 300_000,
      riskLevel: 'medium',
      hash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      realPath: script,
      standingHash: request.hash,
      scripts: [{ path: script, bytes: expect.any(Number) as number, text: await readFile(script, 'utf8') }],
      files: [],
      isInterpreter: true,
      grantee: 'owner',
    });
    expect(await readRunCount(exec)).toBe(0);
    const { requestId } = request;
    expect((await client.call('exec.approve', { requestId })).request.status).toBe('approved');
    expect(await waitForEnd(client, requestId)).toMatchObject({ status: 'completed', exitCode: 0, stdout: 'a b $HOME\n', stderr: '' });
    expect(await readRunCount(exec)).toBe(1);
    await waitFor(() => getResolvedEvents(events).length === 2);
    expect(getResolvedEvents(events)).toEqual(['approved', 'completed']);
    const names = events.map(({ event }) => event).filter((event) => /^(exec|approval)\./.test(event));
    expect(names).toEqual(['exec.requested', 'approval.requested', 'exec.resolved', 'approval.resolved', 'exec.output', 'exec.resolved']);
    expect(events.find(({ event }) => event === 'exec.output')?.payload).toEqual({
      requestId,
      stream: 'stdout',
      text: 'a b $HOME\n',
      offset: 0,
    });
    expect(gw.faults).toEqual([]);
  });

  verifies('exec/split', 'one text without arguments is split into words: these are shown, hashed and run', async () => {
    await using exec = await createExecBridge();
    await using gw = await createTestGateway({ bridge: exec.bridge, clock: new FakeClock() });
    const { client } = await gw.client();
    const script = await writeCountingScript(exec);
    const split = await createRequest(client, `${script} 'a b' --all`);
    expect(split).toMatchObject({ command: script, args: ['a b', '--all'], realPath: script });
    expect(split.hash).toBe((await createRequest(client, script, ['a b', '--all'])).hash);
    await client.call('exec.approve', { requestId: split.requestId, always: true });
    expect(await waitForEnd(client, split.requestId)).toMatchObject({ status: 'completed', stdout: 'a b --all\n' });
    // The approval holds for the same words, however they were given, and for no others.
    expect((await createRequest(client, script, ['a b', '--all'])).status).toBe('approved');
    expect((await createRequest(client, `${script} a b --all`)).status).toBe('pending');
    // A path with spaces is one program.
    const spaced = await exec.script('two words', '#!/bin/sh\necho spaced\n');
    expect(await createRequest(client, spaced)).toMatchObject({ command: spaced, args: [], realPath: spaced });
    // With arguments the text is a program's name.
    await expect(createRequest(client, `${script} a`, ['b'])).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    await expect(createRequest(client, 'no-such-program -v')).rejects.toMatchObject({
      code: 'INVALID_PARAMS',
      message: expect.stringContaining('no program no-such-program on'),
    });
    for (const line of [`${script} | wc`, `${script} *.txt`, `${script} $HOME`]) {
      await expect(createRequest(client, line)).rejects.toMatchObject({
        code: 'INVALID_PARAMS',
        message: expect.stringContaining('without a shell'),
      });
    }
    // A path that exists and cannot run is not taken apart.
    const broken = await exec.script('count more', '#!/no/such/interpreter\n');
    await exec.script('count', '#!/bin/sh\n');
    await expect(createRequest(client, broken)).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    expect(gw.faults).toEqual([]);
  });

  verifies('exec/told', 'its requester receives its events, and no one else’s', async () => {
    await using exec = await createExecBridge();
    await using gw = await createTestGateway({ bridge: exec.bridge, clock: new FakeClock() });
    const { client: person } = await gw.client();
    const [asking, other] = [await gw.client({ events: 'own' }), await gw.client({ events: 'own' })];
    const getEventNames = ({ events }: typeof asking): string[] =>
      events.map(({ event }) => event).filter((event) => /^(exec|approval)\./.test(event));
    const script = await writeCountingScript(exec);
    const { requestId } = await createRequest(asking.client, script);
    await person.call('exec.approve', { requestId });
    await waitFor(() => getResolvedEvents(asking.events).length === 2);
    expect(getResolvedEvents(asking.events)).toEqual(['approved', 'completed']);
    const allEvents = ['exec.requested', 'approval.requested', 'exec.resolved', 'approval.resolved', 'exec.output', 'exec.resolved'];
    expect(getEventNames(asking)).toEqual(allEvents);
    await person.call('exec.deny', { requestId: (await createRequest(person, script)).requestId });
    await asking.client.call('health', {});
    await other.client.call('health', {});
    expect([getEventNames(asking), getEventNames(other)]).toEqual([allEvents, []]);
  });

  verifies('exec/answers-at-once', 'the answer to an approval does not wait for the command; output so far can be read', async () => {
    await using exec = await createExecBridge();
    await using gw = await createTestGateway({ bridge: exec.bridge });
    const { client } = await gw.client();
    const request = await createRequest(client, 'sh', ['-c', 'echo begun; while ! test -e go; do sleep 0.01; done; echo done; exit 4']);
    await client.call('exec.approve', { requestId: request.requestId });
    await waitFor(async () => (await getRequest(client, request.requestId)).stdout === 'begun\n');
    expect((await getRequest(client, request.requestId)).status).toBe('running');
    await writeFile(join(request.workingDir, 'go'), '');
    expect(await waitForEnd(client, request.requestId)).toMatchObject({ status: 'failed', exitCode: 4, stdout: 'begun\ndone\n' });
  });

  verifies('exec/states', 'a finished request is returned unchanged, whatever the decision', async () => {
    await using exec = await createExecBridge();
    await using gw = await createTestGateway({ bridge: exec.bridge });
    const { client } = await gw.client();
    const script = await writeCountingScript(exec);
    const { requestId } = await createRequest(client, script);
    const { request: denied } = await client.call('exec.deny', { requestId, reason: 'No' });
    expect(denied).toMatchObject({ status: 'denied', reason: 'No', resolvedAt: expect.any(Number) as number });
    for (const again of [
      client.call('exec.approve', { requestId, always: true }),
      client.call('exec.deny', { requestId }),
      client.call('exec.cancel', { requestId }),
    ])
      expect((await again).request).toEqual(denied);
    expect((await client.call('exec.policies', {})).count).toBe(0);

    const second = await createRequest(client, script);
    await Promise.all([1, 2, 3].map(() => client.call('exec.approve', { requestId: second.requestId })));
    await waitForEnd(client, second.requestId);
    await client.call('exec.approve', { requestId: second.requestId });
    expect(await readRunCount(exec)).toBe(1);
  });

  verifies(['exec/earlier', 'tools.exec_approve/earlier'], '`tools.exec_approve`, either way', async () => {
    await using exec = await createExecBridge();
    await using gw = await createTestGateway({ bridge: exec.bridge });
    const { client } = await gw.client();
    const [one, two] = [await createRequest(client, 'true'), await createRequest(client, 'true')];
    expect(await client.call('tools.exec_approve', { requestId: one.requestId, approved: true })).toEqual({ ok: true });
    expect(await client.call('tools.exec_approve', { requestId: two.requestId, approved: false })).toEqual({ ok: true });
    expect((await waitForEnd(client, one.requestId)).status).toBe('completed');
    expect((await getRequest(client, two.requestId)).status).toBe('denied');
  });

  verifies('exec/states', 'expires after 300 s, and cannot be approved then', async () => {
    await using exec = await createExecBridge();
    const clock = new FakeClock();
    await using gw = await createTestGateway({ bridge: exec.bridge, clock });
    const { client, events } = await gw.client();
    const script = await writeCountingScript(exec);
    const { requestId } = await createRequest(client, script);
    clock.advance(299_999);
    expect((await getRequest(client, requestId)).status).toBe('pending');
    clock.advance(1);
    await waitFor(() => getResolvedEvents(events).includes('expired'));
    expect((await client.call('exec.approve', { requestId })).request.status).toBe('expired');
    // The wall clock jumps before any timer fires: it expires all the same.
    const { requestId: second } = await createRequest(client, script);
    clock.jump(300_000);
    expect((await client.call('exec.approve', { requestId: second })).request.status).toBe('expired');
    expect(await readRunCount(exec)).toBe(0);
  });

  verifies('exec/states', 'is withdrawn while it waits; while it runs, its processes end', async () => {
    await using exec = await createExecBridge();
    await using gw = await createTestGateway({ bridge: exec.bridge });
    const { client } = await gw.client();
    const waits = await createRequest(client, 'true');
    expect((await client.call('exec.cancel', { requestId: waits.requestId })).request.status).toBe('cancelled');
    const name = `cancelled${Date.now()}`;
    const runs = await createRequest(client, 'bash', ['-c', `echo on; exec -a ${name} sleep 1000`]);
    await client.call('exec.approve', { requestId: runs.requestId });
    await waitFor(async () => (await getRequest(client, runs.requestId)).stdout === 'on\n' && findProcesses(name).length > 0);
    const { request } = await client.call('exec.cancel', { requestId: runs.requestId });
    expect(request).toMatchObject({ status: 'cancelled', stdout: 'on\n' });
    await waitFor(() => findProcesses(name).length === 0, 'its end', 4000);
    expect(await getRequest(client, runs.requestId)).toEqual(request);
  });

  verifies('exec/bound', 'a program that was swapped after the approval was asked for does not run', async () => {
    await using exec = await createExecBridge();
    await using gw = await createTestGateway({ bridge: exec.bridge });
    const { client } = await gw.client();
    const script = await exec.script('good', '#!/bin/sh\necho good\n');
    const { requestId } = await createRequest(client, script);
    await exec.script('good', `#!/bin/sh\ntouch ${exec.home}/evil\n`);
    await client.call('exec.approve', { requestId });
    expect(await waitForEnd(client, requestId)).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('changed after it was approved') as string,
    });
    expect(await fileExists(join(exec.home, 'evil'))).toBe(false);
  });

  verifies('exec/needs-bridge', 'and reports a disconnected bridge as such', async () => {
    await using without = await createTestGateway();
    const { client: alone } = await without.client();
    await expect(createRequest(alone, 'true')).rejects.toMatchObject({
      code: 'INTERNAL_ERROR',
      message: expect.stringContaining('needs the bridge') as string,
    });
    await using exec = await createExecBridge();
    await using gw = await createTestGateway({ bridge: exec.bridge });
    const { client } = await gw.client();
    const { requestId } = await createRequest(client, 'sh', ['-c', 'echo on; exec sleep 1000']);
    await client.call('exec.approve', { requestId });
    await waitFor(async () => (await getRequest(client, requestId)).stdout === 'on\n');
    exec.bridge.detach();
    expect(await waitForEnd(client, requestId)).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('connection to the bridge was lost') as string,
      stdout: 'on\n',
    });
  });

  verifies('exec/states', 'that takes too long is ended, by the configured time', async () => {
    await using exec = await createExecBridge();
    await using gw = await createTestGateway({ bridge: exec.bridge });
    const { client } = await gw.client();
    await client.call('config.set', { key: 'tools.execTimeoutMs', value: 1000 });
    const { requestId } = await createRequest(client, 'sleep', ['1000']);
    await client.call('exec.approve', { requestId });
    expect(await waitForEnd(client, requestId)).toMatchObject({ status: 'failed', exitCode: null, reason: 'Timed out after 1 s' });
  });

  verifies('exec/newest-first', 'the list has no output; beyond 500 the oldest go, and old ones keep less output', async () => {
    await using exec = await createExecBridge();
    await using gw = await createTestGateway({ bridge: exec.bridge, clock: new FakeClock(2_000_000) });
    const { client } = await gw.client();
    const { requestId: first } = await createRequest(client, 'echo', ['hi']);
    await client.call('exec.approve', { requestId: first });
    const record = { ...(await waitForEnd(client, first)), origin: 'gone', replica: 'gone' };
    const records = gw.vault.collection('execRequests');
    const long = { stdout: 'x'.repeat(10_000) };
    for (let at = 0; at < 510; at++)
      await records.put({ ...record, ...(at === 20 || at === 509 ? long : {}), requestId: `old-${at}`, createdAt: 1000 + at });
    const { requestId: last } = await createRequest(client, 'true');
    await client.call('exec.approve', { requestId: last });
    await waitForEnd(client, last);
    await waitFor(async () => (await client.call('exec.list', {})).count === 500);
    const { requests } = await client.call('exec.list', {});
    expect(requests.map(({ requestId }) => requestId).slice(2, 4)).toEqual(['old-509', 'old-508']);
    expect(requests.some(({ stdout }) => stdout !== undefined)).toBe(false);
    await waitFor(async () => (await getRequest(client, 'old-20')).truncated === true);
    expect((await getRequest(client, 'old-20')).stdout).toHaveLength(8192);
    expect(await getRequest(client, 'old-509')).toMatchObject(long);
  });
});

describe('questions', () => {
  verifies('approvals/expiry', 'a hundred may wait; one more is refused, until some are answered', async () => {
    await using exec = await createExecBridge();
    await using gw = await createTestGateway({ bridge: exec.bridge });
    const { client } = await gw.client();
    const all = await Promise.all(Array.from({ length: 100 }, () => createRequest(client, 'true')));
    await expect(createRequest(client, 'true')).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    await client.call('exec.deny', { requestId: all[0]?.requestId ?? '' });
    expect((await createRequest(client, 'true')).status).toBe('pending');
  });
});

describe('policies', () => {
  verifies('exec/policies', '"always" covers exactly this command, until it is taken back', async () => {
    await using exec = await createExecBridge();
    await using gw = await createTestGateway({ bridge: exec.bridge });
    const { client, events } = await gw.client();
    const script = await writeCountingScript(exec);
    const first = await createRequest(client, script, ['x']);
    await client.call('exec.approve', { requestId: first.requestId, always: true });
    await waitForEnd(client, first.requestId);
    const { policies } = await client.call('exec.policies', {});
    expect(policies).toMatchObject([{ grantee: 'owner', command: script, args: ['x'] }]);
    const hash = policies[0]?.hash ?? '';

    const second = await createRequest(client, script, ['x']);
    expect(second).toMatchObject({ status: 'approved', reason: 'Allowed by a saved policy for exactly this command' });
    expect(await waitForEnd(client, second.requestId)).toMatchObject({ status: 'completed', stdout: 'x\n' });
    expect(getResolvedEvents(events)).toEqual(['approved', 'completed', 'approved', 'completed']);
    expect((await createRequest(client, script, ['y'])).status).toBe('pending');
    expect((await createRequest(client, script, ['x', ''])).status).toBe('pending');
    await exec.script('count', '#!/bin/sh\necho other\n');
    expect((await createRequest(client, script, ['x'])).status).toBe('pending');
    await writeCountingScript(exec);
    await client.call('exec.forget', { hash });
    expect((await createRequest(client, script, ['x'])).status).toBe('pending');
    await expect(client.call('exec.forget', { hash })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await readRunCount(exec)).toBe(2);
  });
});

describe('a restart', () => {
  verifies(
    'exec/restart',
    'what ran is failed and never runs again; what waited can still be approved, or expires in its time',
    async () => {
      await using exec = await createExecBridge();
      const indexedDB = new IDBFactory();
      const clock = new FakeClock();
      const script = await writeCountingScript(exec);
      const options = { bridge: exec.bridge, clock, indexedDB, name: 'restarts' };
      await using gw = await createTestGateway(options);
      const { client: before } = await gw.client();
      const late = await createRequest(before, script, ['late']);
      clock.advance(100_000);
      const waits = await createRequest(before, script, ['waits']);
      const ran = await createRequest(before, 'sh', ['-c', `echo ran >> ${exec.home}/count.txt; echo on; exec sleep 1000`]);
      await before.call('exec.approve', { requestId: ran.requestId });
      await waitFor(async () => (await getRequest(before, ran.requestId)).stdout === 'on\n');
      clock.advance(2000);
      await waitFor(async () => (await gw.vault.collection('execRequests').get(ran.requestId))?.stdout === 'on\n', 'its output on disk');

      // The next one has the data from here on: the first can write no more, as if it were gone, and so is its line.
      await using again = await createTestGateway({ ...options, useGuide: true });
      exec.bridge.detach();
      exec.bridge.attach();
      const { client, events } = await again.client();
      clock.advance(1500);
      await waitFor(() => getResolvedEvents(events).includes('failed'), 'the end of what ran');
      expect(await getRequest(client, ran.requestId)).toMatchObject({
        status: 'failed',
        stdout: 'on\n',
        reason: expect.stringContaining('the gateway was closed') as string,
      });
      clock.advance(200_000);
      await waitFor(() => getResolvedEvents(events).includes('expired'));
      expect((await getRequest(client, late.requestId)).status).toBe('expired');
      expect((await client.call('exec.approve', { requestId: waits.requestId })).request.status).toBe('approved');
      expect(await waitForEnd(client, waits.requestId)).toMatchObject({ status: 'completed', stdout: 'waits\n' });
      expect(await readRunCount(exec)).toBe(2);
      expect(again.faults).toEqual([]);
    },
  );

  verifies(
    'exec/restart',
    "a person's approved command that had not begun runs when the bridge is there again, once; others do not",
    async () => {
      await using exec = await createExecBridge();
      const clock = new FakeClock();
      const options = { bridge: exec.bridge, clock, indexedDB: new IDBFactory(), name: 'approved' };
      await using gw = await createTestGateway(options);
      const { client: before } = await gw.client();
      const script = await writeCountingScript(exec);
      const records = gw.vault.collection('execRequests');
      const request = await createRequest(before, script);
      await before.call('exec.deny', { requestId: request.requestId });
      const denied = await records.get(request.requestId);
      if (!denied) throw new Error('it is gone');
      // As a host leaves them that dies between the approval and the first word to the bridge.
      const orphaned = { ...denied, status: 'approved' as const, origin: 'gone', expiresAt: clock.now() + 300_000 };
      await records.put({ ...orphaned, requestId: 'mine' });
      await records.put({ ...orphaned, requestId: 'cancelled' });
      await records.put({ ...orphaned, requestId: 'late', expiresAt: clock.now() });
      await records.put({ ...orphaned, requestId: 'agents', agentId: 'main' });
      exec.bridge.detach();

      await using again = await createTestGateway({ ...options, useGuide: true });
      const { client } = await again.client();
      expect(await getRequest(client, 'late')).toMatchObject({ status: 'failed', reason: expect.stringContaining('Not run') as string });
      expect((await getRequest(client, 'agents')).status).toBe('cancelled');
      expect((await getRequest(client, 'mine')).status).toBe('approved');
      expect((await client.call('exec.cancel', { requestId: 'cancelled' })).request.status).toBe('cancelled');
      exec.bridge.attach();
      expect(await waitForEnd(client, 'mine')).toMatchObject({ status: 'completed' });
      expect(await readRunCount(exec)).toBe(1);
      expect((await records.get('mine'))?.origin).toBe(again.vault.origin);
    },
  );

  verifies('exec/restart', 'an approved command that is taken over fails when no bridge comes in its time', async () => {
    await using exec = await createExecBridge();
    const clock = new FakeClock();
    const options = { bridge: exec.bridge, clock, indexedDB: new IDBFactory(), name: 'never' };
    await using gw = await createTestGateway(options);
    const { requestId } = await createRequest((await gw.client()).client, await writeCountingScript(exec));
    const records = gw.vault.collection('execRequests');
    await records.update(requestId, (before) => before && { ...before, status: 'approved', origin: 'gone' });
    exec.bridge.detach();
    await using again = await createTestGateway({ ...options, useGuide: true });
    const { client } = await again.client();
    expect((await getRequest(client, requestId)).status).toBe('approved');
    clock.advance(300_000);
    expect(await waitForEnd(client, requestId)).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('needs the bridge') as string,
    });
    exec.bridge.attach();
    expect(await readRunCount(exec)).toBe(0);
  });

  verifies('exec/restart', 'a gateway that closes ends running commands, and reports it', async () => {
    await using exec = await createExecBridge();
    const options = { bridge: exec.bridge, indexedDB: new IDBFactory(), name: 'closes' };
    const name = `closing${Date.now()}`;
    const gw = await createTestGateway(options);
    const { client } = await gw.client();
    const { requestId } = await createRequest(client, 'bash', ['-c', `echo on; exec -a ${name} sleep 1000`]);
    await client.call('exec.approve', { requestId });
    await waitFor(async () => (await getRequest(client, requestId)).stdout === 'on\n');
    await gw.gateway.close();
    await waitFor(() => findProcesses(name).length === 0, 'its end', 4000);
    await using again = await createTestGateway({ ...options, useGuide: true });
    expect(await getRequest((await again.client()).client, requestId)).toMatchObject({ status: 'failed' });
  });
});
