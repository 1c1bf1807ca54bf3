import { generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect } from 'vitest';
import { GatewayClient } from '#shared/client/client.ts';
import { toBase64url } from '#shared/base64.ts';
import { PAIRING_PRINCIPAL, SCOPES } from '#shared/rpc/contract.ts';
import { contracts } from '#shared/rpc/methods/index.ts';
import { sha256 } from '#shared/sha256.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { connectPairingClient, createTestDevice } from '../../../../tests/support/test-device.ts';
import { createTestGateway, waitFor } from '../../../../tests/support/test-gateway.ts';
import { TestHosts } from '../../../../tests/support/test-hosts.ts';

const initiatePairing = async (client: GatewayClient): Promise<string> =>
  (await client.call('device.initiate', { deviceName: 'Phone' })).code;
const toRefusal = (code: string, message?: string) => ({
  code,
  ...(message === undefined ? {} : { message: expect.stringContaining(message) as string }),
});
const WRONG_CODE_ERROR = toRefusal('NOT_FOUND', 'The pairing code is wrong');
const WRONG_CODE = 'ZZZZZZZZ';

describe('pairing', () => {
  verifies(
    ['device.initiate/code', 'device.list/fields', 'device/token-kept', 'states.device/code', 'states.device/paired'],
    'a device with a code gets a token of its own, which is kept as a hash',
    async () => {
      const clock = new FakeClock();
      await using gw = await createTestGateway({ clock });
      const { client } = await gw.client();
      const { code, expiresAt } = await client.call('device.initiate', { deviceName: ' A phone ', scopes: ['read'] });
      expect(expiresAt).toBe(clock.now() + 300_000);
      expect(await client.call('device.list', {})).toEqual({ devices: [], count: 0 });
      const device = await createTestDevice();
      const phone = await connectPairingClient(gw, code);
      const { paired, deviceId, deviceToken } = await phone.call('device.complete', { code, response: await device.response(code) });
      expect(paired).toBe(true);
      expect(deviceToken).toMatch(/^[A-Za-z0-9_-]{43}$/);
      const entry = { id: deviceId, name: 'A phone', scopes: ['read'], createdAt: clock.now(), lastSeenAt: null, connected: false };
      expect(await client.call('device.list', {})).toEqual({ devices: [entry], count: 1 });
      const [record] = await gw.vault.collection('devices').list();
      expect(record).toMatchObject({ tokenHash: await sha256(deviceToken), publicKey: device.spki });
      expect(JSON.stringify(record)).not.toContain(deviceToken);
      expect(JSON.stringify(record)).not.toContain(code);
    },
  );

  verifies('device.initiate/alphabet', 'of 60 codes', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const codes = await Promise.all(Array.from({ length: 60 }, () => initiatePairing(client)));
    expect(new Set(codes).size).toBe(60);
    for (const code of codes) expect(code).toMatch(/^[2-9A-HJKMNP-Z]{8}$/);
    const device = await createTestDevice();
    const code = await initiatePairing(client);
    const typed = `${code.slice(0, 4)}-${code.slice(4)} `.toLowerCase();
    // The device may sign the code as generated or as typed.
    expect(await client.call('device.complete', { code: typed, response: await device.response(code) })).toMatchObject({ paired: true });
    const other = (await initiatePairing(client)).toLowerCase();
    expect(await client.call('device.complete', { code: other, response: await device.response(other) })).toMatchObject({ paired: true });
  });

  for (const kind of ['Ed25519', 'P-256'] as const) {
    verifies('device.complete/keys', `${kind}, made by WebCrypto`, async () => {
      await using gw = await createTestGateway();
      const { client } = await gw.client();
      const device = await createTestDevice(kind);
      const code = await initiatePairing(client);
      expect(await client.call('device.complete', { code, response: await device.response(code) })).toMatchObject({ paired: true });
    });
  }

  verifies('device.complete/keys', 'P-256 signatures in DER, short ones too', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const spki = publicKey.export({ type: 'spki', format: 'der' }).toString('base64url');
    const lengths = new Set<number>();
    while (lengths.size < 3) {
      const code = await initiatePairing(client);
      const signature = sign('sha256', Buffer.from(code), privateKey);
      lengths.add(signature.byteLength);
      const response = `${spki}.${signature.toString('base64url')}`;
      expect(await client.call('device.complete', { code, response })).toMatchObject({ paired: true });
    }
  });

  verifies('device.complete/wrong', 'each with a sentence of its own', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const [device, other] = [await createTestDevice(), await createTestDevice('P-256')];
    const code = await initiatePairing(client);
    const good = await device.sign(code);
    const spki = (type: 'rsa' | 'ec' | 'x25519') => {
      const { publicKey } =
        type === 'rsa'
          ? generateKeyPairSync('rsa', { modulusLength: 1024 })
          : type === 'ec'
            ? generateKeyPairSync('ec', { namedCurve: 'P-384' })
            : generateKeyPairSync('x25519');
      return publicKey.export({ type: 'spki', format: 'der' }).toString('base64url');
    };
    const offCurve = other.spki.slice(0, -4) + (other.spki.endsWith('AAAA') ? 'BBBB' : 'AAAA');
    const cases: [string, string][] = [
      ['nothing', 'must be `<public key>.<signature over the code>`'],
      [`${device.spki}.`, 'must be `<public key>.<signature over the code>`'],
      [`${device.spki}.a+/=`, 'must be `<public key>.<signature over the code>`'],
      [`${device.spki}.A`, 'must be `<public key>.<signature over the code>`'],
      ...(['rsa', 'ec', 'x25519'] as const).map((type): [string, string] => [
        `${spki(type)}.${toBase64url(good)}`,
        'must be an Ed25519 or P-256 key',
      ]),
      [`${offCurve}.${toBase64url(good)}`, 'is not a valid P-256 key'],
      [`${device.spki}.${toBase64url(good.slice(1))}`, 'is not a valid Ed25519 signature'],
      [`${other.spki}.${toBase64url(new Uint8Array(70))}`, 'is not a valid P-256 signature'],
    ];
    for (const [response, message] of cases) {
      await expect(client.call('device.complete', { code, response }), response).rejects.toMatchObject(
        toRefusal('INVALID_PARAMS', message),
      );
      // The same for a code that there is not: the answer tells nothing.
      await expect(client.call('device.complete', { code: WRONG_CODE, response })).rejects.toMatchObject(
        toRefusal('INVALID_PARAMS', message),
      );
    }
    for (const response of [await device.response('another text'), `${other.spki}.${toBase64url(good)}`]) {
      const bad = toRefusal('INVALID_PARAMS', 'does not match this code and key');
      await expect(client.call('device.complete', { code, response })).rejects.toMatchObject(bad);
    }
    expect(await client.call('device.complete', { code, response: await device.response(code) })).toMatchObject({ paired: true });
  });

  verifies('device.complete/tries', 'five with a wrong signature, at one time or not: the code is no good', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const device = await createTestDevice();
    const wrong = await device.response('another text');
    const one = await initiatePairing(client);
    for (let i = 0; i < 4; i++) await client.call('device.complete', { code: one, response: wrong }).catch(() => {});
    expect(await client.call('device.complete', { code: one, response: await device.response(one) })).toMatchObject({ paired: true });
    const two = await initiatePairing(client);
    const answers = await Promise.allSettled(
      Array.from({ length: 9 }, () => client.call('device.complete', { code: two, response: wrong })),
    );
    const codes = answers.map((answer) => (answer.status === 'rejected' ? (answer.reason as { code: string }).code : 'ok')).sort();
    expect(codes).toEqual([...Array<string>(5).fill('INVALID_PARAMS'), ...Array<string>(4).fill('NOT_FOUND')]);
    await expect(client.call('device.complete', { code: two, response: await device.response(two) })).rejects.toMatchObject(
      WRONG_CODE_ERROR,
    );
  });

  verifies('device.complete/tries', 'brute force: five guesses, whoever made them, end every code that waits', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const device = await createTestDevice();
    const [one, two] = [await initiatePairing(client), await initiatePairing(client)];
    const guess = '23456789';
    for (let i = 0; i < 3; i++) {
      await expect(client.call('device.complete', { code: guess, response: await device.response(guess) })).rejects.toMatchObject(
        WRONG_CODE_ERROR,
      );
    }
    for (let i = 0; i < 2; i++) await expect(connectPairingClient(gw, guess)).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
    for (const code of [one, two]) {
      await expect(client.call('device.complete', { code, response: await device.response(code) })).rejects.toMatchObject(WRONG_CODE_ERROR);
      await expect(connectPairingClient(gw, code)).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
    }
    const three = await initiatePairing(client);
    expect(await client.call('device.complete', { code: three, response: await device.response(three) })).toMatchObject({ paired: true });
  });

  verifies('device.initiate/code', 'ten wait at the most: the oldest makes room', async () => {
    const clock = new FakeClock();
    await using gw = await createTestGateway({ clock });
    const { client } = await gw.client();
    const codes: string[] = [];
    for (let i = 0; i < 11; i++) {
      codes.push(await initiatePairing(client));
      clock.advance(1);
    }
    const device = await createTestDevice();
    const [oldest = '', next = ''] = codes;
    await expect(client.call('device.complete', { code: oldest, response: await device.response(oldest) })).rejects.toMatchObject(
      WRONG_CODE_ERROR,
    );
    expect(await client.call('device.complete', { code: next, response: await device.response(next) })).toMatchObject({ paired: true });
    expect(await gw.vault.collection('devices').list()).toHaveLength(10);
  });

  verifies('device.complete/expires', 'not a moment longer, and whatever the wall clock says', async () => {
    const clock = new FakeClock();
    await using gw = await createTestGateway({ clock });
    const { client } = await gw.client();
    const device = await createTestDevice();
    const [one, two] = [await initiatePairing(client), await initiatePairing(client)];
    clock.advance(299_999);
    clock.jump(3_600_000);
    expect(await client.call('device.complete', { code: one, response: await device.response(one) })).toMatchObject({ paired: true });
    clock.jump(-7_200_000);
    clock.advance(1);
    await expect(client.call('device.complete', { code: two, response: await device.response(two) })).rejects.toMatchObject(
      WRONG_CODE_ERROR,
    );
    await waitFor(async () => (await gw.vault.collection('devices').list()).length === 1, 'the code to be removed');
  });

  verifies('device.complete/once', 'also for two at one time', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const [one, two] = [await createTestDevice(), await createTestDevice('P-256')];
    const code = await initiatePairing(client);
    const answers = await Promise.allSettled(
      [await one.response(code), await two.response(code)].map((response) => client.call('device.complete', { code, response })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(answers.find(({ status }) => status === 'rejected')).toMatchObject({ reason: WRONG_CODE_ERROR });
    await expect(client.call('device.complete', { code, response: await one.response(code) })).rejects.toMatchObject(WRONG_CODE_ERROR);
    expect((await client.call('device.list', {})).count).toBe(1);
  });

  verifies('device.complete/hosts', 'a code of one host at another; a device that one revokes is gone at the other', async () => {
    const hosts = new TestHosts();
    await using one = await hosts.host();
    await using two = await hosts.host();
    const [a, b] = [(await one.client()).client, (await two.client()).client];
    const code = await initiatePairing(a);
    await two.waitForSync();
    const device = await createTestDevice();
    const phone = await connectPairingClient(two, code);
    const { deviceId } = await phone.call('device.complete', { code, response: await device.response(code) });
    await one.waitForSync();
    expect((await a.call('device.list', {})).devices).toMatchObject([{ id: deviceId }]);
    await expect(a.call('device.complete', { code, response: await device.response(code) })).rejects.toMatchObject(WRONG_CODE_ERROR);
    const gone = Promise.withResolvers<[number, string]>();
    two.link({ principal: `device:${deviceId}` }).receive({ message: () => {}, close: (...end) => gone.resolve(end) });
    await a.call('device.revoke', { deviceId });
    expect(await gone.promise).toEqual([1008, 'access was revoked']);
    expect((await b.call('device.list', {})).count).toBe(0);
    expect([...one.faults, ...two.faults]).toEqual([]);
  });

  verifies('device.revoke/runs', 'also queued deliveries; requests of others stay', async () => {
    const hold = Promise.withResolvers<void>();
    await using gw = await createTestGateway({ model: () => ['Half ', { wait: hold.promise }, 'done'] });
    const { client, events } = await gw.client();
    const code = await initiatePairing(client);
    const { deviceId } = await client.call('device.complete', { code, response: await (await createTestDevice()).response(code) });
    const phone = await GatewayClient.connect(gw.link({ principal: `device:${deviceId}` }), { params: { clientName: 'phone' } });
    const ended = [phone.call('chat.send', { message: 'one' }), phone.call('chat.send', { message: 'two' })].map((sent) =>
      sent.then(
        () => 'done',
        () => 'ended',
      ),
    );
    const own = client.call('chat.send', { message: 'own', sessionId: 'other' });
    await waitFor(() => events.filter(({ event }) => event === 'chat.delta').length === 2, 'half of both');
    await client.call('device.revoke', { deviceId });
    await waitFor(() => events.filter(({ event }) => event === 'chat.error').length === 2, 'the end of both');
    expect(await Promise.all(ended)).toEqual(['ended', 'ended']);
    expect(events.find(({ event }) => event === 'chat.error')?.payload).toMatchObject({
      sessionId: 'main',
      error: { code: 'ABORTED', message: 'The caller’s access was revoked.' },
    });
    const { messages } = await client.call('chat.history', { sessionId: 'main' });
    expect(messages.map(({ content, aborted }) => [content, aborted])).toContainEqual(['Half ', true]);
    hold.resolve();
    expect(await own).toMatchObject({ completed: true });
  });

  verifies('device.revoke/stays', 'another host sees it once more, without knowing, and later', async () => {
    const hosts = new TestHosts();
    await using one = await hosts.host();
    await using two = await hosts.host();
    const { client } = await one.client();
    const code = await initiatePairing(client);
    const { deviceId } = await client.call('device.complete', { code, response: await (await createTestDevice()).response(code) });
    await two.waitForSync();
    two.crash();
    await client.call('device.revoke', { deviceId });
    // Later than the deletion, and made without knowing of it.
    await two.vault
      .collection('devices')
      .update(deviceId, (before) => (before?.state === 'paired' ? { ...before, lastSeenAt: 1 } : undefined));
    expect((await (await two.client()).client.call('device.list', {})).count).toBe(1);
    two.replicator.attach(hosts.journal.connect());
    await two.waitForSync();
    await one.waitForSync();
    expect((await (await two.client()).client.call('device.list', {})).count).toBe(0);
    expect((await client.call('device.list', {})).count).toBe(0);
  });
});

describe('an unpaired device', () => {
  verifies('device/pairing-alone', 'every method but device.complete is refused', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    await client.call('config.set', { key: 'gateway.rateLimit', value: { perMinute: 0, burst: 1 } });
    const code = await initiatePairing(client);
    const phone = await connectPairingClient(gw, code);
    expect(phone.hello.features.methods).toEqual(['device.complete']);
    for (const method of Object.keys(contracts)) {
      if (method === 'connect' || method === 'device.complete') continue;
      await expect(phone.request(method, {}), method).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
    }
    // Nor with scopes, should somebody give it some.
    const link = gw.link({ principal: PAIRING_PRINCIPAL, scopes: SCOPES, pairingCode: code });
    const rich = await GatewayClient.connect(link, { params: {} });
    for (const method of Object.keys(contracts)) {
      if (method === 'connect' || method === 'device.complete') continue;
      await expect(rich.request(method, {}), method).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
    }
    const device = await createTestDevice();
    expect(await phone.call('device.complete', { code, response: await device.response(code) })).toMatchObject({ paired: true });
  });

  verifies('device/pairing-alone', 'no events come, though it asks for all', async () => {
    const clock = new FakeClock();
    await using gw = await createTestGateway({ clock });
    const { client } = await gw.client();
    const texts: string[] = [];
    const link = gw.link({ principal: PAIRING_PRINCIPAL, scopes: [], pairingCode: await initiatePairing(client) });
    link.receive({ message: (text) => texts.push(text), close: () => {} });
    link.send(JSON.stringify({ type: 'req', id: '1', method: 'connect', params: { minProtocol: 3, maxProtocol: 3, events: 'all' } }));
    await waitFor(() => texts.length === 2);
    await client.call('chat.send', { message: 'a secret' });
    clock.advance(15_000);
    await waitFor(() => texts.length > 2);
    expect(texts.slice(2).map((text) => (JSON.parse(text) as { event: string }).event)).toEqual(['tick']);
  });

  verifies('device/pairing-alone', 'a wrong code ends the connection, at once or when it is tried', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    await expect(connectPairingClient(gw, WRONG_CODE)).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
    const phone = await connectPairingClient(gw, await initiatePairing(client));
    const device = await createTestDevice();
    await expect(phone.call('device.complete', { code: WRONG_CODE, response: await device.response(WRONG_CODE) })).rejects.toMatchObject(
      WRONG_CODE_ERROR,
    );
    expect(await phone.closed).toMatchObject({ code: 1008 });
  });

  verifies('device/pairing-alone', 'what comes before the code has been looked at waits, within limits', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const code = await initiatePairing(client);
    const connect = JSON.stringify({ type: 'req', id: 'c', method: 'connect', params: { minProtocol: 3, maxProtocol: 3 } });
    const open = (pairingCode: string) => {
      const got: { texts: string[]; end?: number } = { texts: [] };
      const link = gw.link({ principal: PAIRING_PRINCIPAL, scopes: [], pairingCode });
      link.receive({ message: (text) => got.texts.push(text), close: (end) => void (got.end = end) });
      link.send(connect);
      return { link, got };
    };
    const good = open(code);
    good.link.send(JSON.stringify({ type: 'req', id: 'h', method: 'health', params: {} }));
    await waitFor(() => good.got.texts.length === 3);
    expect(good.got.texts.slice(1).map((text) => JSON.parse(text) as object)).toMatchObject([
      { id: 'c', ok: true },
      { id: 'h', error: { code: 'AUTH_REQUIRED' } },
    ]);
    const bad = open(WRONG_CODE);
    bad.link.send(JSON.stringify({ type: 'req', id: 'h', method: 'device.complete', params: {} }));
    await waitFor(() => bad.got.end === 1008);
    expect(bad.got.texts.slice(1).map((text) => JSON.parse(text) as object)).toMatchObject([{ id: 'c', error: { code: 'AUTH_REQUIRED' } }]);
    const full = open(code);
    full.link.send('x'.repeat(40_000));
    full.link.send('x'.repeat(40_000));
    await waitFor(() => full.got.end === 1009);
  });
});

verifies('device.list/seen', 'connected devices, and when each was last seen, updated once a minute', async () => {
  const clock = new FakeClock();
  await using gw = await createTestGateway({ clock });
  const { client } = await gw.client();
  const code = await initiatePairing(client);
  const { deviceId } = await client.call('device.complete', { code, response: await (await createTestDevice()).response(code) });
  const connect = () => GatewayClient.connect(gw.link({ principal: `device:${deviceId}`, scopes: ['read'] }), { params: {} });
  const entry = async () => (await client.call('device.list', {})).devices[0];
  const first = clock.now();
  const device = await connect();
  expect(await entry()).toMatchObject({ connected: true });
  await waitFor(async () => (await entry())?.lastSeenAt === first);
  await expect(device.call('chat.abort', { sessionId: 'main' })).rejects.toMatchObject({
    code: 'AUTH_REQUIRED',
    message: 'chat.abort requires the scope "chat".',
  });
  clock.advance(59_999);
  device.close();
  await waitFor(async () => (await entry())?.connected === false);
  clock.advance(1);
  await connect();
  await waitFor(async () => (await entry())?.lastSeenAt === first + 60_000);
});
