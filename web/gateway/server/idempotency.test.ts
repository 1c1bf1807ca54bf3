import { describe, expect } from 'vitest';
import { contracts } from '#shared/rpc/methods/index.ts';
import { IdempotencyCache } from '../system/idempotency.ts';
import { PARAM_EXAMPLES } from '../../../tests/conformance/conformance-steps.ts';
import { verifies } from '../../../tests/requirements.ts';
import { FakeClock } from '../../../tests/support/fake-clock.ts';
import { createTestDevice } from '../../../tests/support/test-device.ts';
import { createTestGateway } from '../../../tests/support/test-gateway.ts';
import { sendRawRequest } from '../../../tests/support/raw-connection.ts';

describe('an idempotency key', () => {
  verifies('idempotency/everywhere', 'is a param of each method with effects, and of no other', async () => {
    await using gw = await createTestGateway({ useGuide: true });
    const { client } = await gw.client();
    for (const [method, params] of PARAM_EXAMPLES) {
      const { scope, pairing } = contracts[method as keyof typeof contracts].policy;
      const sendWithKey = (idempotencyKey: unknown) =>
        client.request(method, { ...params, idempotencyKey }).then(
          () => 'answered',
          (error: Error) => error.message,
        );
      const unknown = scope === 'read' || pairing === true;
      const answer = expect(await sendWithKey('a key'), method);
      if (unknown) answer.toBe('Unknown parameter `idempotencyKey`.');
      else answer.not.toContain('idempotencyKey');
      for (const wrong of ['', 5, 'x'.repeat(257)])
        expect(await sendWithKey(wrong), `${method} ${String(wrong)}`).toContain('idempotencyKey');
    }
  });

  verifies('idempotency/replay', 'makes nothing twice, whatever it makes; a call that failed is tried anew', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const twice = async (method: string, params: object) => {
      const call = () => client.request(method, { ...params, idempotencyKey: 'k' });
      const first = await call();
      expect(await call(), method).toEqual(first);
    };
    // Each of these would fail, or make another one.
    await twice('agents.add', { agent_id: 'one' });
    await twice('agents.remove', { agent_id: 'one' });
    await twice('device.initiate', { deviceName: 'Phone' });
    await client.call('chat.send', { message: 'hi' });
    await twice('sessions.fork', { path: 'main/main.jsonl', sessionId: 'fork' });
    await twice('sessions.delete', { path: 'main/fork.jsonl' });
    await twice('cron.add', { cron: '0 9 * * *', message: 'hi' });
    expect((await client.call('cron.list', {})).count).toBe(1);
    const write = () =>
      client.request('workspace.read', { path: 'a' }).then(() => client.request('workspace.remove', { path: 'a', idempotencyKey: 'k' }));
    await expect(write()).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await client.call('workspace.write', { path: 'a', content: 'x' });
    expect(await write()).toEqual({ removed: true });
  });

  verifies(['idempotency/replay', 'connect/protocol-2'], 'has the answer in the form of the protocol that asks', async () => {
    await using gw = await createTestGateway();
    const params = JSON.stringify({ cron: '0 9 * * *', message: 'hi', idempotencyKey: 'k' });
    const [old, current] = [await sendRawRequest(gw, 'cron.add', params, 2), await sendRawRequest(gw, 'cron.add', params, 3)];
    const id = expect.any(String) as string;
    expect(old).toMatchObject({ ok: true, payload: { id } });
    expect(current).toMatchObject({ ok: true, payload: { jobId: id, ok: true } });
    expect(old.ok && current.ok && [old.payload, current.payload]).toMatchObject([
      { id: current.ok && (current.payload as { jobId: string }).jobId },
      {},
    ]);
  });

  verifies('idempotency/kept', 'of a device that is not paired gets no other device’s token', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const device = await createTestDevice();
    const { code } = await client.call('device.initiate', { deviceName: 'Phone' });
    const params = { code, response: await device.response(code), idempotencyKey: 'k' };
    await expect(client.request('device.complete', params)).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  });

  verifies('idempotency/kept', 'is known for 1,000 calls', async () => {
    const idempotency = new IdempotencyCache(new FakeClock());
    const done: string[] = [];
    const once = (key: string) =>
      idempotency.runOnce(key, async () => {
        done.push(key);
        return key;
      });
    for (let n = 0; n < 1000; n++) await once(`k${n}`);
    for (let n = 0; n < 1000; n++) await once(`k${n}`);
    expect(done).toHaveLength(1000);
    await once('one more');
    await once('k1');
    await once('k0');
    expect(done.slice(1000)).toEqual(['one more', 'k0']);
  });

  verifies('idempotency/kept', 'is known for answers of 16 MiB together, and the last one whatever its size', async () => {
    const idempotency = new IdempotencyCache(new FakeClock());
    const done: string[] = [];
    const once = (key: string, chars: number) =>
      idempotency.runOnce(key, async () => {
        done.push(key);
        return { text: 'x'.repeat(chars) };
      });
    const mega = 1024 * 1024;
    const slow = Promise.withResolvers<unknown>();
    void idempotency.runOnce('under way', () => slow.promise);
    await once('small', 10);
    for (let n = 0; n < 20; n++) await once(`k${n}`, mega);
    for (let n = 19; n > 4; n--) await once(`k${n}`, mega);
    expect(done).toHaveLength(21);
    await once('k4', mega);
    await once('small', 10);
    expect(done.slice(21)).toEqual(['k4', 'small']);
    await once('large', 20 * mega);
    await once('large', 20 * mega);
    await once('k19', mega);
    expect(done.slice(23)).toEqual(['large', 'k19']);
    // A pending call is not started again.
    expect(idempotency.runOnce('under way', () => expect.unreachable())).toBe(idempotency.runOnce('under way', () => expect.unreachable()));
    slow.resolve('done');
  });
});
