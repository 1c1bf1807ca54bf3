import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { Home } from '../../home.ts';
import { type Bridge, type BridgeOptions, startBridge } from '../server.ts';
import { dialHost, type FakeHost, type FakeHostOptions } from './fake-host.ts';

export const PAGE_CSP = "default-src 'none'; script-src 'self' 'sha256-abc='; connect-src 'self'";
export const WORKER_CSP = "default-src 'none'; connect-src 'self' https:";

/** A bridge with a home and a tiny app of its own, in a temporary directory. */
export interface TestBridge extends AsyncDisposable {
  bridge: Bridge;
  url: string;
  token: string;
  home: Home;
  appDir: string;
  lines: string[];
  /** A fake host with the managed Chromium's credential, attached. */
  attach(options?: Partial<FakeHostOptions>): Promise<FakeHost>;
  http(path: string, init?: RequestInit & { token?: string | null }): Promise<Response>;
}

export async function startTestBridge(options: Partial<BridgeOptions> = {}): Promise<TestBridge> {
  const dir = await mkdtemp(join(tmpdir(), 'perch-bridge-'));
  const home = await Home.open({ dir: join(dir, 'home') });
  const token = await home.token();
  const appDir = await writeApp(join(dir, 'app'));
  const lines: string[] = [];
  const bridge = await startBridge({
    port: 0,
    bind: '127.0.0.1',
    home,
    token,
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
    async attach(given = {}) {
      const attached = new Promise((resolve) => bridge.lease.once('attach', resolve));
      const host = await dialHost({ url: bridge.url, credential: bridge.hostCredential(), ...given });
      hosts.push(host);
      await attached;
      return host;
    },
    http(path, { token: given = token, headers, ...init } = {}) {
      return fetch(`${bridge.url}${path}`, {
        ...init,
        headers: { ...(given === null ? {} : { authorization: `Bearer ${given}` }), ...headers },
      });
    },
    async [Symbol.asyncDispose]() {
      for (const host of hosts) host.die();
      await bridge.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function writeApp(dir: string): Promise<string> {
  await mkdir(join(dir, '_app/immutable'), { recursive: true });
  const script = `console.log(${JSON.stringify('x'.repeat(500))});`;
  const files: Record<string, string | Buffer> = {
    'index.html': `<!doctype html><meta http-equiv="content-security-policy" content="${PAGE_CSP}"><title>Perch</title>`,
    'build.json': JSON.stringify({ build: 'build-1', workerCsp: WORKER_CSP }),
    'service-worker.js': script,
    'icon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
    '_app/immutable/worker.js': script,
    '_app/immutable/worker.js.br': brotliCompressSync(script),
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(dir, name), content);
  return dir;
}
