import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { rolldown } from 'rolldown';
import { launchBrowser, type TestBrowser } from './test-browser.ts';

const root = join(import.meta.dirname, '../..');
const DEFAULT_PAGES_DIR = join(import.meta.dirname, 'canvas-site');
const TYPES: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript', '.png': 'image/png' };
/** As strict as a page's may be that shows pictures. */
const POLICY = "default-src 'none'; script-src 'self' 'nonce-map'; connect-src 'self'; img-src 'self' data: blob:; worker-src 'self'";
const PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Site</title><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">
<script type="importmap" nonce="map">{"imports":{"perch/ui":"/perch/ui.js"}}</script><script type="module" src="/page.js"></script><body></body></html>`;

export interface CanvasSite extends AsyncDisposable {
  readonly url: string;
  readonly browser: TestBrowser;
}

/**
 * A browser, and a site with `perch/ui` built as the package has it. `library`: a folder where it is built already. `pages`: where the
 * page's own script is, another than the one here. `face`: what is built in the library's place.
 */
export async function startCanvasSite(library?: string, pages = DEFAULT_PAGES_DIR, face = 'web/library/ui/index.ts'): Promise<CanvasSite> {
  const folder = library ?? mkdtempSync(join(tmpdir(), 'perch-ui-'));
  if (library === undefined) {
    const build = await rolldown({ cwd: root, input: { ui: face }, platform: 'browser', logLevel: 'warn' });
    await build.write({ dir: folder, format: 'esm', entryFileNames: '[name].js' });
    await build.close();
  }
  const server = createServer(({ url = '/' }, response) => {
    const path = new URL(url, 'http://site').pathname.slice(1);
    const own = existsSync(join(pages, path)) ? pages : DEFAULT_PAGES_DIR;
    const file = path.startsWith('perch/') ? join(folder, path.slice(6)) : join(own, path);
    const found = path !== '' && existsSync(file);
    response
      .writeHead(path === '' || found ? 200 : 404, {
        'content-type': path === '' ? 'text/html' : (TYPES[extname(file)] ?? 'text/plain'),
        'content-security-policy': POLICY,
      })
      .end(path === '' ? PAGE : found ? readFileSync(file) : 'none');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const browser = await launchBrowser();
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    browser,
    async [Symbol.asyncDispose]() {
      await browser[Symbol.asyncDispose]();
      await new Promise((closed) => server.close(closed).closeAllConnections());
      if (library === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}
