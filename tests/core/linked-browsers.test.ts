import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { describe, expect } from 'vitest';
import { type Credential, importSecret, type Linked, linked, prove } from '#shared/link/proof.ts';
import { startTestBridge, type TestBridge } from '../../bridge/server/tests/bridge.ts';
import { TestClient } from '../../bridge/server/tests/client.ts';
import { verifies } from '../requirements.ts';
import { bridgedGateway } from '../support/bridged.ts';
import { testGateway, until } from '../support/gateway.ts';

const USER_AGENT = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36';

async function link(bridge: TestBridge): Promise<Linked> {
  const answer = await bridge.http('/link', {
    method: 'POST',
    token: null,
    headers: { origin: bridge.url, 'content-type': 'application/json', 'user-agent': USER_AGENT },
    body: JSON.stringify({ code: bridge.bridge.issueCode(60_000) }),
  });
  return linked.parse(await answer.json());
}

/** As a linked browser's page connects. */
async function connect(bridge: TestBridge, { id, secret }: Credential) {
  const client = await TestClient.open(bridge.url, { origin: bridge.url });
  const nonce = randomBytes(16).toString('base64url');
  const proof = await prove(await importSecret(secret), 'client', 'app', client.nonce, nonce);
  const answer = await client.call('connect', { minProtocol: 3, maxProtocol: 3, auth: { credentialId: id, nonce, proof } });
  return { client, answer };
}

describe('linked browsers', () => {
  verifies(['device.browsers/list', 'device.unlink/closes'], 'are listed, and one is cut off while the others go on', async () => {
    await using bridge = await startTestBridge();
    await using gw = await bridgedGateway();
    await gw.attach(bridge);
    const [lost, kept] = [await link(bridge), await link(bridge)];
    const page = await connect(bridge, lost.app);
    const other = await connect(bridge, kept.app);
    await bridge.attach({ credential: lost.host });
    expect(bridge.bridge.hosts.size).toBe(2);
    const browsers = async () => (await other.client.call('device.browsers')).payload?.browsers;
    // Browsers of the same kind are numbered.
    const entry = ({ app }: Linked, connected: boolean) => ({
      ...{
        id: app.id,
        name: app === lost.app ? 'Chrome 156 on Linux' : 'Chrome 156 on Linux (2)',
        linkedAt: expect.any(Number) as number,
        connected,
      },
    });
    expect(await browsers()).toEqual([entry(lost, true), entry(kept, true)]);
    page.client.socket.close();
    // Its worker is still connected.
    expect(await browsers()).toEqual([entry(lost, true), entry(kept, true)]);

    const again = await connect(bridge, lost.app);
    const answer = await other.client.call('device.unlink', { browserId: lost.app.id });
    expect(answer).toMatchObject({ ok: true, payload: { unlinked: true } });
    expect(await again.client.closed).toMatchObject({ code: 1008, reason: 'access was revoked' });
    expect(await browsers()).toEqual([entry(kept, true)]);
    // A name that is free again is given again, and no number changes.
    await link(bridge);
    expect(await browsers()).toMatchObject([{ name: 'Chrome 156 on Linux (2)' }, { name: 'Chrome 156 on Linux' }]);
    await until(() => bridge.bridge.hosts.size === 1, 'its worker to be cut off');
    expect((await connect(bridge, lost.app)).answer).toMatchObject({ ok: false, error: { code: 'AUTH_REQUIRED' } });
    await expect(bridge.attach({ credential: lost.host })).rejects.toMatchObject({ code: 1008 });
    const file = await readFile(bridge.home.credentialsFile, 'utf8');
    expect([file.includes(lost.app.id), file.includes(lost.host.id), file.includes(kept.host.id)]).toEqual([false, false, true]);
    expect(await other.client.call('health')).toMatchObject({ ok: true });
  });

  verifies('device.unlink/none', 'an unknown browser; one that cannot be removed from the file stays linked', async () => {
    await using bridge = await startTestBridge();
    await using gw = await bridgedGateway();
    await gw.attach(bridge);
    const owner = await TestClient.connect(bridge.url, bridge.token);
    expect(await owner.call('device.unlink', { browserId: 'app-none' })).toMatchObject({ error: { code: 'NOT_FOUND' } });
    const { app, host } = await link(bridge);
    // A worker's credential is no browser.
    expect(await owner.call('device.unlink', { browserId: host.id })).toMatchObject({ error: { code: 'NOT_FOUND' } });
    const { client } = await connect(bridge, app);
    const text = await readFile(bridge.home.credentialsFile, 'utf8');
    await rm(bridge.home.credentialsFile);
    await mkdir(bridge.home.credentialsFile);
    expect(await owner.call('device.unlink', { browserId: app.id })).toMatchObject({ error: { code: 'INTERNAL_ERROR' } });
    expect(text).toContain(app.id);
    expect(await client.call('health')).toMatchObject({ ok: true });
  });

  verifies('device.browsers/list', 'there are none without a bridge, and nothing to take back', async () => {
    await using gw = await testGateway();
    const { client } = await gw.client();
    expect(await client.call('device.browsers', {})).toEqual({ browsers: [], count: 0 });
    await expect(client.call('device.unlink', { browserId: 'app-x' })).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
  });
});
