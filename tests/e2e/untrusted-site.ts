import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Page } from 'playwright';
import { rolldown } from 'rolldown';
import { PAGE_POLICY } from '../../web/page-policy.ts';
import { compileMessages } from '../../web/compile-messages.ts';
import { waitFor } from '../support/test-gateway.ts';
import { launchBrowser, type TestBrowser } from './test-browser.ts';
import { ELSEWHERE_ARGS, startRecordingServer, type RecordingServer } from './recording-server.ts';

const root = join(import.meta.dirname, '../..');
/** Sources that a policy has in quotes. */
const QUOTED_SOURCES = new Set(['self', 'none', 'unsafe-inline', 'script']);
const POLICY = Object.entries(PAGE_POLICY)
  .map(([name, sources]) => `${name} ${sources.map((each) => (QUOTED_SOURCES.has(each) ? `'${each}'` : each)).join(' ')}`)
  .join('; ');
const HTML = '<!doctype html><meta charset="utf-8"><title>Parts</title><link rel="icon" href="data:,"><main></main>';
const PAGE = `${HTML}<script type="module" src="/page.js"></script>`;

/** Pages with the parts of the app that show content of others, and another server, which should hear nothing of it. */
export interface UntrustedSite extends AsyncDisposable {
  readonly recorder: RecordingServer;
  /** `/` without a policy, so that nothing else stops what a part lets through; `/guarded` with that of the app; `/diagrams` without the parts. */
  page(path: '/' | '/guarded' | '/diagrams'): Promise<Page>;
  /** Requests that the other server has heard, once one that was begun after them has come. */
  findRequests(page: Page): Promise<string[]>;
}

async function bundleExports(): Promise<string> {
  compileMessages();
  const build = await rolldown({
    cwd: root,
    input: 'tests/e2e/untrusted-exports.ts',
    external: [/typeset\.ts$/],
    platform: 'browser',
    logLevel: 'warn',
    transform: { define: { __PERCH_DEMO__: 'false', __PERCH_VERSION__: '"0"', __PERCH_BUILD__: '"test"' } },
  });
  const { output } = await build.generate({ format: 'esm', codeSplitting: false });
  await build.close();
  return output[0].code;
}

export async function startUntrustedSite(): Promise<UntrustedSite> {
  const files: Record<string, [type: string, body: string]> = {
    '/': ['text/html', PAGE],
    '/guarded': ['text/html', `${PAGE}<script>hacked = "inline script"</script>`],
    '/diagrams': ['text/html', HTML],
    '/page.js': ['text/javascript', "import * as parts from '/parts.js'; Object.assign(globalThis, { parts });"],
    '/parts.js': ['text/javascript', await bundleExports()],
    '/mermaid.js': ['text/javascript', readFileSync(join(root, 'node_modules/mermaid/dist/mermaid.min.js'), 'utf8')],
  };
  const server = createServer(({ url = '/' }, response) => {
    const [type, body] = files[url] ?? ['text/plain', ''];
    if (url === '/guarded') response.setHeader('content-security-policy', POLICY);
    response.writeHead(body ? 200 : 404, { 'content-type': type }).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const elsewhere = await startRecordingServer();
  const browser: TestBrowser = await launchBrowser({ args: ELSEWHERE_ARGS });
  return {
    recorder: elsewhere,
    async page(path) {
      const page = await browser.page(url + path);
      if (path !== '/diagrams') await page.waitForFunction(() => 'parts' in globalThis);
      elsewhere.requests.length = 0;
      return page;
    },
    async findRequests(page) {
      await page.evaluate(async (last) => {
        // Two frames, in which what was inserted begins to load.
        for (let frames = 0; frames < 2; frames++) await new Promise(requestAnimationFrame);
        await fetch(last);
      }, `${elsewhere.url}/last`);
      await waitFor(() => Promise.resolve(elsewhere.requests.includes('GET /last')), 'the last request');
      return elsewhere.requests.filter((heard) => heard !== 'GET /last' && heard !== 'a connection');
    },
    async [Symbol.asyncDispose]() {
      await browser[Symbol.asyncDispose]();
      await elsewhere[Symbol.asyncDispose]();
      server.close();
    },
  };
}
