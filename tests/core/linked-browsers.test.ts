import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { describe, expect } from 'vitest';
import { type Credential, importSecret, type LinkResult, linkResult, createProof } from '#shared/link/link-credentials.ts';
import { startTestBridge, type TestBridge } from '../../bridge/server/tests/test-bridge.ts';
import { TestSocketClient } from '../../bridge/server/tests/test-client.ts';
import { verifies } from '../requirements.ts';
import { createBridgedGateway } from '../support/bridged-gateway.ts';
import { createTestGateway, waitFor } from '../support/test-gateway.ts';

const USER_AGENT = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36';

async function linkBrowser(bridge: TestBridge): Promise<LinkResult> {
  const answer = await bridge.http('/link', {
    method: 'POST',
    token: null,
    headers: { origin: bridge.url, 'content-type': 'application/json', 'user-agent': USER_AGENT },
    body: JSON.stringify({ code: bridge.bridge.issueCode(60_000) }),
  });
  return linkResult.parse(await answer.json());
}

/** As a linked browser's page connects. */
async function connectBrowser(bridge: TestBridge, { id, secret }: Credential) {
  const client = await TestSocketClient.open(bridge.url, { origin: bridge.url });
  const nonce = randomBytes(16).toString('base64url');
  const proof = await createProof(await importSecret(secret), 'client', 'app', client.nonce, nonce);
  const answer = await client.call('connect', { minProtocol: 3, maxProtocol: 3, auth: { credentialId: id, nonce, proof } });
  return { client, answer };
}

describe('linked browsers', () => {
  verifies(['device.browsers/list', 'device.unlink/closes'], 'are listed, and one is cut off while the others go on', async () => {
    await using bridge = await startTestBridge();
    await using gw = await createBridgedGateway();
    await gw.attach(bridge);
    const [revoked, stillLinked] = [await linkBrowser(bridge), await linkBrowser(bridge)];
    const page = await connectBrowser(bridge, revoked.app);
    const other = await connectBrowser(bridge, stillLinked.app);
    await bridge.attach({ credential: revoked.host });
    expect(bridge.bridge.hosts.size).toBe(2);
    const browsers = async () => (await other.client.call('device.browsers')).payload?.browsers;
    // Browsers of the same kind are numbered.
    const entry = ({ app }: LinkResult, connected: boolean) => ({
      ...{
        id: app.id,
        name: app === revoked.app ? 'Chrome 156 on Linux' : 'Chrome 156 on Linux (2)',
        linkedAt: expect.any(Number) as number,
        connected,
      },
    });
    expect(await browsers()).toEqual([entry(revoked, true), entry(stillLinked, true)]);
    page.client.socket.close();
    // Its worker is still connected.
    expect(await browsers()).toEqual([entry(revoked, true), entry(stillLinked, true)]);

    const again = await connectBrowser(bridge, revoked.app);
    const answer = await other.client.call('device.unlink', { browserId: revoked.app.id });
    expect(answer).toMatchObject({ ok: true, payload: { unlinked: true } });
    expect(await again.client.closed).toMatchObject({ code: 1008, reason: 'access was revoked' });
    expect(await browsers()).toEqual([entry(stillLinked, true)]);
    // A name that is free again is given again, and no number changes.
    await linkBrowser(bridge);
    expect(await browsers()).toMatchObject([{ name: 'Chrome 156 on Linux (2)' }, { name: 'Chrome 156 on Linux' }]);
    await waitFor(() => bridge.bridge.hosts.size === 1, 'its worker to be cut off');
    expect((await connectBrowser(bridge, revoked.app)).answer).toMatchObject({ ok: false, error: { code: 'AUTH_REQUIRED' } });
    await expect(bridge.attach({ credential: revoked.host })).rejects.toMatchObject({ code: 1008 });
    const file = await readFile(bridge.home.credentialsFile, 'utf8');
    expect([file.includes(revoked.app.id), file.includes(revoked.host.id), file.includes(stillLinked.host.id)]).toEqual([
      false,
      false,
      true,
    ]);
    expect(await other.client.call('health')).toMatchObject({ ok: true });
  });

  verifies('device.unlink/none', 'an unknown browser; one that cannot be removed from the file stays linked', async () => {
    await using bridge = await startTestBridge();
    await using gw = await createBridgedGateway();
    await gw.attach(bridge);
    const owner = await TestSocketClient.connect(bridge.url, bridge.token);
    expect(await owner.call('device.unlink', { browserId: 'app-none' })).toMatchObject({ error: { code: 'NOT_FOUND' } });
    const { app, host } = await linkBrowser(bridge);
    // A worker's credential is no browser.
    expect(await owner.call('device.unlink', { browserId: host.id })).toMatchObject({ error: { code: 'NOT_FOUND' } });
    const { client } = await connectBrowser(bridge, app);
    const text = await readFile(bridge.home.credentialsFile, 'utf8');
    await rm(bridge.home.credentialsFile);
    await mkdir(bridge.home.credentialsFile);
    expect(await owner.call('device.unlink', { browserId: app.id })).toMatchObject({ error: { code: 'INTERNAL_ERROR' } });
    expect(text).toContain(app.id);
    expect(await client.call('health')).toMatchObject({ ok: true });
  });

  verifies('device.browsers/list', 'there are none without a bridge, and nothing to take back', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    expect(await client.call('device.browsers', {})).toEqual({ browsers: [], count: 0 });
    await expect(client.call('device.unlink', { browserId: 'app-x' })).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
  });
});
