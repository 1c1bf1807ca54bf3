import { hash, scryptSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect } from 'vitest';
import { createPortClient } from '#shared/link/port-calls.ts';
import { fetchOverStream } from '#shared/link/stream-http.ts';
import { linkResult } from '#shared/link/link-credentials.ts';
import { textLink } from '#shared/link/text-link.ts';
import { accessPort } from '#shared/ports/access-port.ts';
import { BLOBS_KIND } from '#shared/ports/journal-streams.ts';
import { PROTOCOL_LIMITS } from '#shared/rpc/limits.ts';
import { verifies } from '../../tests/requirements.ts';
import { TestSocketClient } from './tests/test-client.ts';
import { dialHost, type FakeHost } from './tests/fake-host.ts';
import { createJournalClient } from './tests/journal-client.ts';
import { sendRequest, addDevice, type TestVault, startTwoVaults } from './tests/two-vaults.ts';

let dir = '';
beforeEach(async () => void (dir = await mkdtemp(join(tmpdir(), 'perch-vaults-'))));
afterEach(() => rm(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }));

/** A WebSocket client at a URL of the bridge, under any name. */
async function connectClient(
  address: string,
  auth: Record<string, unknown>,
  path = '',
): Promise<{ client: TestSocketClient; answer: unknown }> {
  const { host, port } = new URL(address);
  const client = await TestSocketClient.open(`http://127.0.0.1:${port}`, { headers: { host } }, path);
  return { client, answer: await client.call('connect', { minProtocol: 3, maxProtocol: 3, auth }) };
}

/** Stores a password with the lowest accepted cost, since machines that run many tests are slow. */
function setPassword(file: string, password: string): void {
  const [salt, cost] = [Buffer.alloc(16, file), { N: 2 ** 14, r: 1, p: 1 }];
  const derived = scryptSync(password, salt, 32, cost);
  const stored = { version: 1, ...cost, salt: salt.toString('base64url'), hash: derived.toString('base64url') };
  writeFileSync(file, JSON.stringify(stored), { mode: 0o600 });
}

const rpcOpenings = ({ host }: TestVault): number => host.clients.length;
const httpOpenings = ({ host }: TestVault): number => host.openings.filter(({ kind }) => kind === 'http').length;
const getVault = (answer: { text: string }): unknown => (JSON.parse(answer.text) as { vault?: unknown }).vault;

describe('the vault of a request', () => {
  verifies('vaults/credential', 'is chosen by its token over HTTP, the owner’s or a device’s', async () => {
    await using two = await startTwoVaults({ dir });
    const { own, work } = two;
    for (const path of ['/v1/models', '/mcp', '/v1/chat/completions']) {
      for (const [vault, token] of [
        ['own', own.token],
        ['work', work.token],
        ['own', addDevice('own').token],
        ['work', addDevice('work').token],
      ] as const) {
        const answer = await sendRequest(`${own.served.origin}${path}`, { method: 'POST', token, body: {} });
        expect({ path, status: answer.status, vault: getVault(answer) }).toEqual({ path, status: 200, vault });
      }
    }
  });

  verifies('vaults/credential', 'is chosen by its address, where tokens of other vaults are not valid', async () => {
    await using two = await startTwoVaults({ dir });
    const { own, work } = two;
    const before = [httpOpenings(own), httpOpenings(work)];
    const refused: [string, string][] = [
      [`${work.served.origin}/v1/models`, own.token],
      [`${own.served.origin}/v1/models?vault=work`, own.token],
      [`${work.served.origin}/v1/models?vault=work`, addDevice('own').token],
      [`${own.served.origin}/v1/models`, 'nobody-knows-this-token'],
    ];
    for (const [url, token] of refused) expect({ url, status: (await sendRequest(url, { token })).status }).toEqual({ url, status: 401 });
    for (const url of [
      `${own.served.origin}/v1/models?vault=none`,
      `${work.served.origin}/v1/models?vault=none`,
      `${own.served.origin}/?vault=`,
    ])
      expect({ url, status: (await sendRequest(url, { token: own.token })).status }).toEqual({ url, status: 404 });
    expect((await sendRequest(`http://none.localhost:${new URL(own.served.origin).port}/v1/models`, { token: own.token })).status).toBe(
      403,
    );
    expect([httpOpenings(own), httpOpenings(work)]).toEqual(before);
    const taken = [`${work.served.origin}/v1/models`, `${own.served.origin}/v1/models?vault=work`];
    for (const url of taken) expect(getVault(await sendRequest(url, { token: work.token }))).toBe('work');
  });

  verifies('vaults/credential', 'is chosen by the client’s `connect`', async () => {
    await using two = await startTwoVaults({ dir });
    const { own, work } = two;
    const counts = (): number[] => [rpcOpenings(own), rpcOpenings(work)];
    for (const [auth, expected] of [
      [{ token: work.token }, [0, 1]],
      [{ deviceToken: addDevice('work').token }, [0, 2]],
      [{ token: own.token, deviceToken: addDevice('work').token }, [1, 2]],
      [{ token: 'outdated', deviceToken: addDevice('work').token }, [1, 3]],
      [{ deviceToken: addDevice('own').token }, [2, 3]],
    ] as const) {
      const { answer } = await connectClient(own.served.origin, auth);
      expect(answer).toMatchObject({ ok: true });
      expect(counts()).toEqual(expected);
    }
    for (const [address, auth] of [
      [own.served.origin, { token: 'nobody-knows-this-token' }],
      [own.served.origin, { deviceToken: 'nobody-knows-this-token' }],
      [work.served.origin, { token: own.token }],
      [work.served.origin, { deviceToken: addDevice('own').token }],
      [own.served.origin, { credentialId: 'app-none', nonce: 'n'.repeat(43), proof: 'p' }],
    ] as const) {
      const { answer } = await connectClient(address, auth);
      expect(answer).toMatchObject({ ok: false, error: { code: 'AUTH_REQUIRED' } });
    }
    expect((await connectClient(own.served.origin, { token: own.token }, '?vault=work')).answer).toMatchObject({ ok: false });
    expect((await connectClient(own.served.origin, { token: work.token }, '?vault=work')).answer).toMatchObject({ ok: true });
    await expect(connectClient(own.served.origin, { token: work.token }, '?vault=none')).rejects.toThrow('404');
    expect(counts()).toEqual([2, 4]);
  });

  verifies('vaults/credential', 'is, for a pairing code, what the address names', async () => {
    await using two = await startTwoVaults({ dir });
    await connectClient(two.own.served.origin, { pairingCode: 'CODE' }, '?vault=work');
    expect([rpcOpenings(two.own), rpcOpenings(two.work)]).toEqual([0, 1]);
    await connectClient(two.own.served.origin, { pairingCode: 'CODE' });
    expect([rpcOpenings(two.own), rpcOpenings(two.work)]).toEqual([1, 1]);
  });

  verifies('vaults/password', 'is the named one, or the only one with a password; no other vault’s password is tried', async () => {
    await using two = await startTwoVaults({ dir });
    const { own, work } = two;
    const password = 'the same in both of them';
    setPassword(work.home.passwordFile, password);
    expect((await connectClient(own.served.origin, { password })).answer).toMatchObject({ ok: true });
    expect([rpcOpenings(own), rpcOpenings(work)]).toEqual([0, 1]);
    setPassword(own.home.passwordFile, password);
    expect((await connectClient(own.served.origin, { password })).answer).toMatchObject({
      ok: false,
      error: { code: 'AUTH_REQUIRED', message: expect.stringContaining('?vault=') },
    });
    expect((await connectClient(work.served.origin, { password })).answer).toMatchObject({ ok: true });
    expect((await connectClient(own.served.origin, { password }, '?vault=work')).answer).toMatchObject({ ok: true });
    expect((await connectClient(own.served.origin, { password, token: own.token })).answer).toMatchObject({ ok: true });
    expect([rpcOpenings(own), rpcOpenings(work)]).toEqual([1, 3]);
  });
});

describe('one vault’s credentials at another’s doors', () => {
  /** Links a browser with a vault, at its origin. */
  const link = async ({ served }: TestVault) => {
    const body = { code: served.issueCode(10_000) };
    return linkResult.parse(
      JSON.parse((await sendRequest(`${served.origin}/link`, { method: 'POST', headers: { origin: served.origin }, body })).text),
    );
  };

  verifies('vaults/walls', 'link codes count at their vault’s origin alone', async () => {
    await using two = await startTwoVaults({ dir });
    const { own, work } = two;
    for (const [mine, other] of [
      [own, work],
      [work, own],
    ] as const) {
      const code = mine.served.issueCode(10_000);
      const exchangeCode = (at: string, origin = at) => sendRequest(`${at}/link`, { method: 'POST', headers: { origin }, body: { code } });
      expect((await exchangeCode(other.served.origin)).status).toBe(401);
      expect((await exchangeCode(mine.served.origin, other.served.origin)).status).toBe(403);
      expect((await exchangeCode(mine.served.origin)).status).toBe(200);
      expect((await exchangeCode(mine.served.origin)).status).toBe(401);
      expect((await mine.home.credentials()).length).toBe(2);
    }
    const codeOf = async (token: string, query = ''): Promise<string> =>
      (await sendRequest(`${own.served.origin}/link/code${query}`, { method: 'POST', token })).text;
    expect(await codeOf(work.token)).toContain(`${work.served.origin}/#link=`);
    expect(await codeOf(own.token)).toContain(`${own.served.origin}/#link=`);
    expect(await codeOf(own.token, '?vault=work')).toContain('Incorrect token');
  });

  verifies('vaults/walls', 'a host attaches to its own vault, at that one’s origin', async () => {
    await using two = await startTwoVaults({ dir });
    const { own, work } = two;
    const [ofOwn, ofWork] = [await link(own), await link(work)];
    for (const [url, credential] of [
      [own.served.origin, ofWork.host],
      [work.served.origin, ofOwn.host],
      [own.served.origin, ofWork.app],
      [own.served.origin, work.served.hostCredential()],
      [work.served.origin, own.served.hostCredential()],
    ] as const)
      await expect(dialHost({ url, credential })).rejects.toThrow('Invalid proof');
    await expect(dialHost({ url: own.served.origin, credential: ofWork.host, origin: work.served.origin })).rejects.toThrow('403');
    expect([own.served.hosts.size, work.served.hosts.size]).toEqual([1, 1]);
    await work.attach({ credential: ofWork.host });
    expect([own.served.hosts.size, work.served.hosts.size]).toEqual([1, 2]);
  });

  verifies('vaults/walls', 'a host has its own journal, attachments, key and access list', async () => {
    await using two = await startTwoVaults({ dir });
    const { own, work } = two;
    const record = { store: 'memories', key: 'k', clock: '000000000000001-0000-a', seal: 'none', payload: '{}' } as const;
    const [ownHost, workHost] = [await own.attach({ capabilities: ['journal'] }), await work.attach({ capabilities: ['journal'] })];
    const [ownJournal, workJournal] = [createJournalClient(ownHost), createJournalClient(workHost)];
    const opened = await workJournal.call('journal.open', { origin: 'same', schema: 1, position: null });
    expect(opened.vaultKey).toBe(work.vaultKey);
    expect((await ownJournal.call('journal.open', { origin: 'same', schema: 1, position: null })).vaultKey).toBe(own.vaultKey);
    await workJournal.call('journal.push', { records: [record] });
    expect([own.journal.rows.size, work.journal.rows.size]).toEqual([0, 1]);
    expect((await ownJournal.call('journal.pull', { after: 0 })).records).toEqual([]);
    expect(ownJournal.events).toEqual([]);
    expect((await ownJournal.call('journal.info', {})).hosts).toHaveLength(2);
    const bytes = Buffer.from('an attachment');
    const at = `/${hash('sha256', bytes, 'hex')}`;
    const blob = async ({ mux }: FakeHost, init: { method: string; body?: Uint8Array<ArrayBuffer> }): Promise<number> =>
      (await fetchOverStream(mux, { kind: BLOBS_KIND, headers: { ':path': at } }, { ...init, signal: AbortSignal.timeout(10_000) })).status;
    expect(await blob(workHost, { method: 'PUT', body: new Uint8Array(bytes) })).toBe(204);
    expect([await blob(ownHost, { method: 'GET' }), await blob(workHost, { method: 'GET' })]).toEqual([404, 200]);
    expect(await ownJournal.call('host.signal', { to: 'work-host', payload: {} })).toEqual({ delivered: false });
  });

  verifies('vaults/walls', 'figures and readiness are one vault’s own', async () => {
    await using two = await startTwoVaults({ dir });
    const { own, work } = two;
    await connectClient(own.served.origin, { token: work.token });
    await sendRequest(`${own.served.origin}/v1/models`, { token: work.token });
    const figures = async (token: string): Promise<string> => (await sendRequest(`${own.served.origin}/metrics`, { token })).text;
    await expect.poll(() => figures(work.token)).toContain('perch_http_requests_total{code="200"} 1');
    expect(await figures(work.token)).toContain('perch_clients 1\n');
    expect(await figures(work.token)).not.toContain('process_');
    expect(await figures(own.token)).toContain('perch_clients 0\n');
    expect(await figures(own.token)).not.toContain('perch_http_requests_total{');
    expect(await figures(own.token)).toContain('process_');
    expect((await sendRequest(`${own.served.origin}/metrics?vault=work`, { token: own.token })).status).toBe(401);

    const ready = async (query: string): Promise<number> => (await sendRequest(`${own.served.origin}/ready${query}`)).status;
    const left = new Promise((resolve) => work.served.hosts.once('leave', resolve));
    work.host.die();
    await left;
    expect([await ready(''), await ready('?vault=work')]).toEqual([200, 503]);
  });

  verifies('vaults/walls', 'a failure in one vault does not affect others: a revoked device, a disconnected host', async () => {
    await using two = await startTwoVaults({ dir });
    const { own, work } = two;
    const { client: theirs } = await connectClient(own.served.origin, { deviceToken: addDevice('own').token });
    const { client: mine } = await connectClient(own.served.origin, { deviceToken: addDevice('work').token });
    const access = createPortClient(
      textLink(work.host.mux.open({ kind: accessPort.kind }), () => 1024 * 1024),
      accessPort.calls,
      accessPort.events,
    );
    await access.call('access.revoke', { principal: 'device:own' });
    expect((await access.call('access.connected', {})).principals).toEqual(['device:work']);
    expect(await access.call('access.mirror', { grants: [addDevice('work').grant] })).toEqual({ taken: true });
    const closed: string[] = [];
    void theirs.closed.then(({ reason }) => closed.push(`own ${reason}`));
    work.host.die();
    expect((await mine.closed).code).toBe(1012);
    expect((await theirs.call('still', { there: true })).ok).toBe(true);
    expect(closed).toEqual([]);
    expect(own.ring.read({ ring: '', limit: 100, level: 'debug' }).lines.map(({ message }) => message)).not.toContainEqual(
      expect.stringContaining('disconnected'),
    );
    expect(work.ring.read({ ring: '', limit: 100, level: 'debug' }).lines.map(({ message }) => message)).toContainEqual(
      expect.stringContaining('Disconnected from the background browser'),
    );
  });

  verifies('vaults/walls', 'a page of one vault’s origin may not call another’s', async () => {
    await using two = await startTwoVaults({ dir });
    const { own, work } = two;
    for (const [at, origin] of [
      [own, work.served.origin],
      [work, own.served.origin],
    ] as const) {
      expect((await sendRequest(`${at.served.origin}/v1/models`, { token: at.token, headers: { origin } })).status).toBe(403);
    }
    const page = await sendRequest(`${work.served.origin}/`, { headers: { accept: 'text/html' } });
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('<title>Perch')]);
  });

  verifies('vaults/callbacks', 'a browser comes back to the vault that its address names', async () => {
    await using two = await startTwoVaults({ dir });
    const { own, work } = two;
    const come = (path: string, at = own): Promise<{ status: number; text: string }> => sendRequest(`${at.served.origin}${path}`);
    expect(getVault(await come('/oauth/callback?state=s&code=c'))).toBe('own');
    const back = await come('/oauth/callback/work?state=s&code=c&x=1');
    expect(JSON.parse(back.text)).toMatchObject({ vault: 'work', url: expect.stringMatching(/\/oauth\/callback\?state=s&code=c$/) });
    expect((await come('/oauth/callback/none?state=s&code=c')).status).toBe(404);
    expect((await come('/oauth/callback/own?state=s&code=c')).status).toBe(404);
    expect((await come('/oauth/callback/work/x?state=s&code=c')).status).toBe(404);
    expect([httpOpenings(own), httpOpenings(work)]).toEqual([1, 1]);
  });

  verifies('vaults/callbacks', 'states that nobody waits for lock their own vault’s out alone', async () => {
    await using two = await startTwoVaults({ dir });
    const left = new Promise((resolve) => two.work.served.hosts.once('leave', resolve));
    two.work.host.die();
    await left;
    await two.work.attach({ http: async () => new Response('', { status: 404 }) });
    const come = async (path: string): Promise<number> => (await sendRequest(`${two.own.served.origin}${path}?state=s`)).status;
    for (let tries = 0; tries < 10; tries++) expect(await come('/oauth/callback/work')).toBe(404);
    expect([await come('/oauth/callback/work'), await come('/oauth/callback')]).toEqual([429, 200]);
  });

  verifies('vaults/share', 'using up the connections of one vault does not affect another', async () => {
    await using two = await startTwoVaults({ dir });
    const { own, work } = two;
    const share = PROTOCOL_LIMITS.maxConnections / 2;
    for (let some = 0; some < share; some += 50)
      await Promise.all(Array.from({ length: 50 }, () => connectClient(own.served.origin, { token: work.token })));
    const { client } = await connectClient(own.served.origin, { token: own.token });
    const refused = await TestSocketClient.open(own.served.origin);
    refused.send(
      JSON.stringify({ type: 'req', id: 'c', method: 'connect', params: { minProtocol: 3, maxProtocol: 3, auth: { token: work.token } } }),
    );
    expect(await refused.closed).toMatchObject({ code: 1013, reason: expect.stringContaining('the vault') });
    expect((await client.call('still', { there: true })).ok).toBe(true);
    expect(two.gateway.bridge.vaults.map((vault) => vault.callers())).toEqual([1, share]);
  });

  verifies('vaults/share', 'requests under way of one vault leave the other’s room', async () => {
    await using two = await startTwoVaults({ dir });
    const { own, work } = two;
    const left = new Promise((resolve) => work.served.hosts.once('leave', resolve));
    work.host.die();
    await left;
    let waiting = 0;
    const released = Promise.withResolvers<void>();
    await work.attach({ http: async () => (waiting++, await released.promise, new Response('done')) });
    const share = PROTOCOL_LIMITS.maxConnections / 2;
    const responses = Array.from({ length: share }, () => sendRequest(`${own.served.origin}/v1/models`, { token: work.token }));
    await expect.poll(() => waiting).toBe(share);
    expect((await sendRequest(`${own.served.origin}/v1/models`, { token: work.token })).status).toBe(503);
    expect((await sendRequest(`${own.served.origin}/v1/models`, { token: own.token })).status).toBe(200);
    released.resolve();
    expect((await Promise.all(responses)).every(({ status }) => status === 200)).toBe(true);
  });
});
