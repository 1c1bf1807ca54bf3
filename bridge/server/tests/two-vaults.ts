import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { join } from 'node:path';
import type { AccessGrant } from '#shared/ports/access-port.ts';
import { hash } from 'node:crypto';
import { rename } from 'node:fs/promises';
import { Home, writeFileAtomically } from '../../home-directory.ts';
import { LogRing } from '../../log-ring.ts';
import type { ServedVault } from '../start-bridge.ts';
import { startTestBridge, type TestBridge } from './test-bridge.ts';
import { dialHost, type FakeHost, type FakeHostOptions } from './fake-host.ts';
import { FakeJournal } from './fake-journal.ts';

/** A vault of the test bridge. */
export interface TestVault {
  /** Empty for the home's own. */
  name: string;
  served: ServedVault;
  home: Home;
  token: string;
  vaultKey: string;
  journal: FakeJournal;
  ring: LogRing;
  /** Its host, which names the vault in every HTTP response. */
  host: FakeHost;
  /** Attaches another host. */
  attach(options?: Partial<FakeHostOptions>): Promise<FakeHost>;
}

interface TwoVaults extends AsyncDisposable {
  gateway: TestBridge;
  own: TestVault;
  work: TestVault;
}

/** A device with access to a vault, and its token. */
export const addDevice = (name: string): { token: string; grant: AccessGrant } => ({
  token: `device-token-of-${name}-${'d'.repeat(32)}`,
  grant: {
    principal: `device:${name}`,
    tokenHash: hash('sha256', `device-token-of-${name}-${'d'.repeat(32)}`, 'hex'),
    scopes: ['read', 'write'],
  },
});

/** Starts a bridge with two vaults, each with an active fake host and a device. */
export async function startTwoVaults({ dir, ...options }: { dir: string } & Parameters<typeof startTestBridge>[0]): Promise<TwoVaults> {
  const homes = await Promise.all(['own', 'work'].map((name) => Home.open({ dir: join(dir, name) })));
  const [ownHome, workHome] = homes;
  if (!ownHome || !workHome) throw new Error('there are two');
  for (const [home, name] of [
    [ownHome, 'own'],
    [workHome, 'work'],
  ] as const)
    await writeFileAtomically(home.accessFile, JSON.stringify({ version: 1, grants: [addDevice(name).grant] }), rename);
  const rings = { own: new LogRing(), work: new LogRing() };
  const journals = { own: new FakeJournal(), work: new FakeJournal() };
  const keys = { own: 'o'.repeat(43), work: 'w'.repeat(43) };
  const gateway = await startTestBridge({
    home: ownHome,
    token: await ownHome.token(),
    journal: journals.own,
    vaultKey: keys.own,
    ring: rings.own,
    log: (line) => rings.own.write(line),
    others: [
      {
        name: 'work',
        home: workHome,
        token: await workHome.token(),
        journal: journals.work,
        vaultKey: keys.work,
        ring: rings.work,
        log: (line) => rings.work.write(line),
      },
    ],
    ...options,
  });
  const hosts: FakeHost[] = [];
  const vault = async (name: '' | 'work'): Promise<TestVault> => {
    const served = gateway.bridge.vaults.find((each) => each.name === name);
    if (!served) throw new Error(`no vault ${name}`);
    const which = name === '' ? 'own' : name;
    const home = name === '' ? ownHome : workHome;
    const attach = async (overrides: Partial<FakeHostOptions> = {}): Promise<FakeHost> => {
      const joined = new Promise((resolve) => served.hosts.once('join', resolve));
      const host = await dialHost({
        url: served.origin,
        credential: served.hostCredential(),
        http: async (request, { principal }) => Response.json({ vault: which, principal, url: request.url }),
        ...overrides,
      });
      hosts.push(host);
      await joined;
      return host;
    };
    const common = { served, home, token: await home.token(), vaultKey: keys[which], journal: journals[which], ring: rings[which] };
    return { name, ...common, attach, host: await attach() };
  };
  return {
    gateway,
    own: await vault(''),
    work: await vault('work'),
    async [Symbol.asyncDispose]() {
      for (const host of hosts) host.die();
      await gateway[Symbol.asyncDispose]();
    },
  };
}

interface BridgeRequest {
  method?: string;
  headers?: Record<string, string>;
  token?: string | undefined;
  body?: unknown;
}

/** Sends a request to the bridge at the URL's port on loopback, whatever the URL's host name. */
export function sendRequest(
  url: string,
  { method = 'GET', headers = {}, token, body }: BridgeRequest = {},
): Promise<{ status: number; text: string }> {
  const { host, port, pathname, search } = new URL(url);
  return new Promise((resolve, reject) => {
    const httpRequest = request(
      {
        ...{ host: '127.0.0.1', port, method, path: `${pathname}${search}` },
        headers: {
          host,
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
      },
      async (response) => resolve({ status: response.statusCode ?? 0, text: await text(response) }),
    );
    httpRequest.on('error', reject);
    httpRequest.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
