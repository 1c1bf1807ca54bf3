import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { builtinModules } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import type { Page } from 'playwright';
import { build } from 'vite';
import { afterAll, beforeAll, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { launchBrowser, type TestBrowser } from './test-browser.ts';
import { packPackage, findTypeErrors } from './pack-package.ts';

const LIBRARIES = ['memory', 'memory/active-recall', 'memory/wiki', 'memory/dreaming'];
const toFileName = (library: string): string => library.split('/').at(-1) ?? '';
const IMPORTS = Object.fromEntries(LIBRARIES.map((library) => [`perch/${library}`, `/perch/${toFileName(library)}.js`]));
const page = (head: string): string => `<!doctype html><title>Site</title>${head}<script type="module" src="./page.js"></script>`;
const NODE_ONLY = /["'`]node:\w+|\bprocess\.\w+|\bBuffer\.\w+|\brequire\(|\bnew Function\b|\beval\(/g;
const TYPES: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript' };
const CONFIG_FILES: Record<string, string> = { 'memory.yaml': 'memory:\n  compaction:\n    max_tokens: 500\n', 'wrong.yaml': 'memory: [' };

let packageDir: string;
let installed: string;
let server: Server;
let site: string;
let browser: TestBrowser;

/** Gives the site, the package's files for browsers beside it, and a model; nothing but its own scripts may run. */
function serveSite(url: string): [status: number, type: string, body: string | Buffer] {
  const path = url.slice(1);
  if (path.startsWith('v1/')) return [200, 'application/json', JSON.stringify({ choices: [{ message: { content: '## Goals\n- sail' } }] })];
  const settings = CONFIG_FILES[path];
  if (settings !== undefined) return [200, 'text/yaml', settings];
  const file = path.startsWith('perch/') ? join(installed, 'dist/browser', path.slice(6)) : join(packageDir, path);
  return existsSync(file) ? [200, TYPES[extname(file)] ?? 'text/plain', readFileSync(file)] : [404, 'text/plain', 'none'];
}

beforeAll(async () => {
  packageDir = mkdtempSync(join(tmpdir(), 'perch-site-'));
  installed = join(packageDir, 'node_modules/perch');
  mkdirSync(installed, { recursive: true });
  // Not one of its dependencies is there.
  execFileSync('tar', ['-xzf', await packPackage(packageDir), '--strip-components=1', '-C', installed]);
  cpSync(join(import.meta.dirname, 'memory-site'), join(packageDir, 'site'), { recursive: true });
  writeFileSync(
    join(packageDir, 'site/mapped.html'),
    page(`<script type="importmap" nonce="map">${JSON.stringify({ imports: IMPORTS })}</script>`),
  );
  writeFileSync(join(packageDir, 'site/index.html'), page(''));
  writeFileSync(join(packageDir, 'package.json'), JSON.stringify({ name: 'elsewhere', private: true, type: 'module' }));
  server = createServer(({ url = '/' }, response) => {
    const [status, type, body] = serveSite(new URL(url, 'http://site').pathname);
    response.writeHead(status, { 'content-type': type, 'content-security-policy': "script-src 'self' 'nonce-map'" }).end(body);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  browser = await launchBrowser();
}, 400_000);

afterAll(async () => {
  await browser[Symbol.asyncDispose]();
  await new Promise((closed) => server.close(closed).closeAllConnections());
  rmSync(packageDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
});

const EXPECTED_RESULT = {
  config: [500, 'Couldn’t read /none.yaml: HTTP 404', '/wrong.yaml'],
  memory: {
    needsCompaction: true,
    goals: ['sail'],
    preferences: { tone: 'dry' },
    found: ['Ana has a cat called Miso'],
    dialogs: 2,
    tools: ['memory_search', 'memory_add', 'memory_update_preference', 'memory_forget', 'memory_stats'],
  },
  recall: ['ok', '- Ana is allergic to walnuts', true],
  runner: [1, 5, true],
  setup: [5, true, true],
  wiki: [1, 'SUPERSEDED'],
  dreaming: [true, 6, 1],
};
const EXPECTED_AFTER_RELOAD = {
  memories: ['Ana has a cat called Miso', 'Ana is allergic to walnuts', 'tone: dry', 'Where is the kayak?'],
  barn: true,
  dialogs: 3,
  page: 'Miso',
  claims: ['Miso is 3 years old: SUPERSEDED', 'Miso is 4 years old: ACTIVE', 'Miso is 5 years old: ACTIVE'],
  signals: { total: 1, totalRecallQueries: 1, totalConsolidations: 2 },
};

/** Calls what the site's script has put there, once that has run. */
async function callInPage(on: Page, name: string, ...given: unknown[]): Promise<unknown> {
  await on.waitForFunction((wanted) => wanted in globalThis, name);
  return on.evaluate(
    ([wanted, values]) => {
      const called: unknown = Reflect.get(globalThis, wanted);
      if (typeof called !== 'function') throw new Error(`${wanted} is no function`);
      return called(...values);
    },
    [name, given] as const,
  );
}

verifies(
  'memory.browser/libraries',
  'the documents’ samples, by an import map; after a reload and a restart of the browser all is there',
  async () => {
    const tab = await browser.page(`${site}/site/mapped.html`);
    expect(await callInPage(tab, 'walk', 'mind')).toEqual(EXPECTED_RESULT);
    await tab.reload();
    expect(await callInPage(tab, 'again', 'mind')).toEqual(EXPECTED_AFTER_RELOAD);
    await browser.reopen();
    expect(await callInPage(await browser.page(`${site}/site/mapped.html`), 'again', 'mind')).toEqual(EXPECTED_AFTER_RELOAD);
  },
);

verifies('memory.browser/tabs', 'two tabs that write at once lose nothing', async () => {
  const tabs = [await browser.page(`${site}/site/mapped.html`), await browser.page(`${site}/site/mapped.html`)];
  await Promise.all(tabs.map((tab, nth) => callInPage(tab, 'many', 'shared', ['Ana', 'Ben'][nth], 25)));
  for (const tab of tabs) expect(await callInPage(tab, 'counted', 'shared')).toEqual([50, 50, 50, 50]);
  await tabs[0]?.reload();
  expect(await callInPage(tabs[0] ?? expect.fail(), 'counted', 'shared')).toEqual([50, 50, 50, 50]);
});

verifies(
  'memory.browser/workspace',
  'without room in the browser nothing is stored, and an error says so; with room again it continues',
  async () => {
    expect(await callInPage(await browser.page(`${site}/site/mapped.html`), 'stored', 'full', { 'a.md': 'short' })).toEqual([
      ['stored', 5],
    ]);
    // Chromium keeps for a while how much room there was.
    await browser.reopen();
    const tab = await browser.page(`${site}/site/mapped.html`);
    const cdp = await browser.context.newCDPSession(tab);
    await cdp.send('Storage.overrideQuotaForOrigin', { origin: site, quotaSize: 1 });
    const refusal = 'Couldn’t write a.md: The browser is out of storage. Nothing was saved.';
    expect(await callInPage(tab, 'stored', 'full', { 'a.md': 'x'.repeat(100_000) })).toEqual([[refusal, 5]]);
    await cdp.send('Storage.overrideQuotaForOrigin', { origin: site });
    expect(await callInPage(tab, 'stored', 'full', { 'a.md': 'x'.repeat(100_000) })).toEqual([['stored', 100_000]]);
  },
);

verifies('memory.browser/realms', 'in a dedicated worker, in a SharedWorker, and in what a bundler makes of a page', async () => {
  const tab = await browser.page(`${site}/site/mapped.html`);
  const inWorker = (kind: 'Worker' | 'SharedWorker'): Promise<unknown> =>
    tab.evaluate(
      (wanted) =>
        new Promise<unknown>((resolve, reject) => {
          const worker =
            wanted === 'Worker' ? new Worker('./worker.js', { type: 'module' }) : new SharedWorker('./worker.js', { type: 'module' });
          worker.onerror = ({ message }: Event & { message?: string }) => reject(new Error(message ?? 'The worker does not start'));
          const port = worker instanceof Worker ? worker : worker.port;
          port.onmessage = ({ data }: MessageEvent) => resolve(data);
          port.postMessage(`mind-${wanted}`);
        }),
      kind,
    );
  expect(await inWorker('Worker')).toEqual([EXPECTED_RESULT, EXPECTED_AFTER_RELOAD]);
  expect(await inWorker('SharedWorker')).toEqual([EXPECTED_RESULT, EXPECTED_AFTER_RELOAD]);

  await build({ root: join(packageDir, 'site'), base: './', configFile: false, logLevel: 'error' });
  const bundled = await browser.page(`${site}/site/dist/index.html`);
  expect(await callInPage(bundled, 'walk', 'bundled')).toEqual(EXPECTED_RESULT);
  await bundled.reload();
  expect(await callInPage(bundled, 'again', 'bundled')).toEqual(EXPECTED_AFTER_RELOAD);
  expect([browser.foreignRequests, browser.complaints.filter((text) => !text.includes('404'))]).toEqual([[], []]);
});

verifies('memory.browser/built', 'nothing of Node, nothing from outside', () => {
  const files = readdirSync(join(installed, 'dist/browser'), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.js'));
  expect(files.map((file) => file.replace(/\.js$/, ''))).toEqual(expect.arrayContaining(LIBRARIES.map(toFileName)));
  for (const file of files) {
    const text = readFileSync(join(installed, 'dist/browser', file), 'utf8');
    expect(
      [...text.matchAll(NODE_ONLY)].map(([found]) => found),
      file,
    ).toEqual([]);
    const imported = [...text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*["'`]([^"'`]+)["'`]/g)].map(([, specifier = '']) => specifier);
    expect(
      imported.filter((specifier) => !/^\.\.?\//.test(specifier) || builtinModules.includes(specifier)),
      file,
    ).toEqual([]);
  }
  const notices = readFileSync(join(installed, 'dist/browser/LICENSES.md'), 'utf8');
  for (const name of ['zod', 'yaml', 'idb', '@orama/stemmers']) expect(notices).toContain(`# ${name}\n`);
});

verifies('memory.browser/built', 'its names are those that Node has, and it is typed for a bundler', async () => {
  const nodes: Record<string, () => Promise<object>> = {
    memory: () => import('../../bridge/library/memory.ts'),
    'active-recall': () => import('../../web/library/active-recall.ts'),
    wiki: () => import('../../bridge/library/wiki.ts'),
    dreaming: () => import('../../bridge/library/dreaming.ts'),
  };
  for (const library of LIBRARIES) {
    const ours: object = await import(join(installed, 'dist/browser', `${toFileName(library)}.js`));
    const theirs = Object.keys((await nodes[toFileName(library)]?.()) ?? {});
    expect(Object.keys(ours).sort(), library).toEqual(
      theirs.map((name) => (name === 'folderWorkspace' ? 'databaseWorkspace' : name)).sort(),
    );
  }
  // Types of what it depends on for its settings, which an installation has.
  symlinkSync(join(import.meta.dirname, '../../node_modules/zod'), join(packageDir, 'node_modules/zod'), 'junction');
  const lines = [
    "import { databaseWorkspace, MemoryManager, type FoundMemory } from 'perch/memory';",
    "import { ActiveMemoryRecaller } from 'perch/memory/active-recall';",
    "import { ClaimsManager, WikiVault } from 'perch/memory/wiki';",
    "import { DreamingPhases, PromotionScorer } from 'perch/memory/dreaming';",
    "const memory = new MemoryManager('mind', { compaction: { maxTokens: 5000 } }, { provider: 'ollama', model_id: 'x' });",
    "export const found: Promise<FoundMemory[]> = memory.searchMemory('x', 3);",
    'export const all = [new ActiveMemoryRecaller(memory), new WikiVault("wiki").claims, ClaimsManager, DreamingPhases, PromotionScorer];',
    'export const wrong: number = databaseWorkspace;',
  ];
  writeFileSync(join(packageDir, 'typed.ts'), `${lines.join('\n')}\n`);
  const mistake = [expect.stringMatching(/^typed\.ts\(8,14\): error TS2322/)];
  expect(findTypeErrors(packageDir, 'typed.ts', ['--module', 'esnext', '--moduleResolution', 'bundler'])).toEqual(mistake);
});
