import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { type Credential, linkResult } from '#shared/link/link-credentials.ts';
import { Home } from '../../home-directory.ts';
import { type Bridge, type BridgeOptions, startBridge } from '../start-bridge.ts';
import { dialHost, type FakeHost, type FakeHostOptions } from './fake-host.ts';
import { FakeJournal } from './fake-journal.ts';

export const FRAME_CSP = "default-src 'none'; script-src 'unsafe-inline'";
export const PAGE_CSP = "default-src 'none'; script-src 'self' 'sha256-abc='; connect-src 'self'";
export const VAULT_KEY = 'k'.repeat(43);
export const WORKER_CSP = "default-src 'none'; connect-src 'self' https:";

/** A bridge with its own home and a tiny app, in a temporary directory. */
export interface TestBridge extends AsyncDisposable {
  bridge: Bridge;
  url: string;
  token: string;
  home: Home;
  appDir: string;
  lines: string[];
  journal: FakeJournal;
  /** Attaches a fake host, by default with the managed Chromium's credential. */
  attach(options?: Partial<FakeHostOptions>): Promise<FakeHost>;
  /** Creates a credential for a browser's pages (`app`) or its worker (`host`), the way a browser gets it. */
  credential(kind: 'app' | 'host'): Promise<Credential>;
  http(path: string, init?: RequestInit & { token?: string | null }): Promise<Response>;
}

/** `fetchHttp`: the fetch function of `http`. */
export async function startTestBridge(options: Partial<BridgeOptions> = {}, fetchHttp = fetch): Promise<TestBridge> {
  const dir = await mkdtemp(join(tmpdir(), 'perch-bridge-'));
  const home = await Home.open({ dir: join(dir, 'home') });
  const token = await home.token();
  const appDir = await writeTestApp(join(dir, 'app'));
  const lines: string[] = [];
  const journal = new FakeJournal();
  const bridge = await startBridge({
    port: 0,
    bind: '127.0.0.1',
    home,
    token,
    journal,
    vaultKey: VAULT_KEY,
    mode: 'auto',
    appDir,
    log: (line) => void lines.push(line),
    ...options,
  });
  const hosts: FakeHost[] = [];
  return {
    bridge,
    url: bridge.url,
    token,
    home,
    appDir,
    lines,
    journal,
    async attach(overrides = {}) {
      const attached = new Promise((resolve) => bridge.hosts.once('join', resolve));
      const host = await dialHost({ url: bridge.url, credential: overrides.credential ?? bridge.hostCredential(), ...overrides });
      hosts.push(host);
      await attached;
      return host;
    },
    async credential(kind) {
      const answer = await fetch(`${bridge.url}/link`, {
        method: 'POST',
        headers: { origin: bridge.url, 'content-type': 'application/json' },
        body: JSON.stringify({ code: bridge.issueCode(10_000) }),
      });
      return linkResult.parse(await answer.json())[kind];
    },
    http(path, { token: given = token, headers, ...init } = {}) {
      return fetchHttp(`${bridge.url}${path}`, {
        ...init,
        headers: { ...(given === null ? {} : { authorization: `Bearer ${given}` }), ...headers },
      });
    },
    async [Symbol.asyncDispose]() {
      for (const host of hosts) host.die();
      await bridge.close();
      // A host's last request may still be writing.
      await rm(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    },
  };
}

async function writeTestApp(dir: string): Promise<string> {
  await mkdir(join(dir, '_app/immutable/workers'), { recursive: true });
  const script = `console.log(${JSON.stringify('x'.repeat(500))});`;
  const files: Record<string, string | Buffer> = {
    'index.html': `<!doctype html><meta http-equiv="content-security-policy" content="${PAGE_CSP}"><title>Perch</title>`,
    'host.html': `<!doctype html><meta http-equiv="content-security-policy" content="${PAGE_CSP}"><title>Perch host</title>`,
    'frame.html': `<!doctype html><meta http-equiv="content-security-policy" content="${FRAME_CSP}"><title>Preview</title>`,
    'build.json': JSON.stringify({ build: 'build-1', workerCsp: WORKER_CSP }),
    'service-worker.js': script,
    'icon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
    '_app/immutable/chunk.js': script,
    '_app/immutable/workers/worker.js': script,
    '_app/immutable/chunk.js.br': brotliCompressSync(script),
    '_app/immutable/workers/worker.js.br': brotliCompressSync(script),
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(dir, name), content);
  return dir;
}
