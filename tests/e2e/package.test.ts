import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifies } from '../requirements.ts';
import { startPerch } from './perch-process.ts';
import { packPackage, NEEDS_SHELL, findTypeErrors } from './pack-package.ts';

const root = join(import.meta.dirname, '../..');
const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];

let packageDir: string;
let installed: string;
let command: string;

beforeAll(async () => {
  packageDir = mkdtempSync(join(tmpdir(), 'perch-installed-'));
  installed = join(packageDir, 'node_modules/perch');
  command = join(packageDir, 'node_modules/.bin/perch');
  const packed = await packPackage(packageDir);
  writeFileSync(join(packageDir, 'package.json'), JSON.stringify({ name: 'elsewhere', private: true, type: 'module' }));
  execFileSync('npm', ['install', '--prefer-offline', ...quiet, packed], {
    cwd: packageDir,
    shell: NEEDS_SHELL,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}, 240_000);
afterAll(() => rmSync(packageDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));

const runInstalled = (program: string, args: string[]): string =>
  execFileSync(program, args, { cwd: packageDir, encoding: 'utf8', shell: NEEDS_SHELL });

verifies('package/installs', 'its `perch` runs, serves the app, and answers', async () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  expect(runInstalled(command, ['--version']).trim()).toBe(version);
  await using gateway = await startPerch({
    host: 'tab',
    command: NEEDS_SHELL ? [process.execPath, join(installed, 'dist/perch.js')] : [command],
  });
  const health: unknown = await (await fetch(`${gateway.url}/health`)).json();
  expect(health).toMatchObject({ status: 'no-host', version, mode: 'tab' });
  const page = await fetch(gateway.url, { headers: { accept: 'text/html' } });
  expect(page.status).toBe(200);
  expect(await page.text()).toContain('<!doctype html>');
});

verifies('package/installs', '`perch/client` can be imported and is typed', () => {
  writeFileSync(
    join(packageDir, 'use.js'),
    "import { GatewayClient, memoryPair } from 'perch/client';\nconsole.log(typeof GatewayClient, typeof memoryPair);\n",
  );
  expect(runInstalled(process.execPath, ['use.js']).trim()).toBe('function function');
  writeFileSync(
    join(packageDir, 'use.ts'),
    "import { GatewayClient, type Link, socketLink } from 'perch/client';\nexport const link: Link<string> = socketLink(new WebSocket('ws://localhost'));\nexport const wrong: number = GatewayClient;\n",
  );
  // The only error is the deliberate one, so the types exist and are correct.
  expect(findTypeErrors(packageDir, 'use.ts')).toEqual([expect.stringMatching(/^use\.ts\(3,14\): error TS2322/)]);
});

verifies('memory.node/package', '`perch/memory` can be imported, is typed, and remembers over a restart', () => {
  const lines = [
    "import { MemoryManager } from 'perch/memory';",
    "const memory = await new MemoryManager('mind').open();",
    "await memory.addMemory('Ana has a cat called Miso');",
    "console.log((await memory.searchMemory('Which cats?')).map(({ text }) => text).join());",
    'await memory.close();',
  ];
  writeFileSync(join(packageDir, 'remember.js'), `${lines.join('\n')}\n`);
  for (let time = 0; time < 2; time++) expect(runInstalled(process.execPath, ['remember.js']).trim()).toBe('Ana has a cat called Miso');
  expect(readdirSync(join(packageDir, 'mind')).filter((name) => !/-(wal|shm)$/.test(name))).toEqual(['MEMORY.md', 'memory.db']);
  const typed = [
    "import { MemoryManager, type FoundMemory } from 'perch/memory';",
    "export const found: Promise<FoundMemory[]> = new MemoryManager('mind', { compaction: { maxTokens: 5000 } }, { provider: 'ollama', model_id: 'x' }).searchMemory('x', 3);",
    'export const wrong: number = MemoryManager;',
  ];
  writeFileSync(join(packageDir, 'typed.ts'), `${typed.join('\n')}\n`);
  expect(findTypeErrors(packageDir, 'typed.ts')).toEqual([expect.stringMatching(/^typed\.ts\(3,14\): error TS2322/)]);
});

verifies('memory.node/package', 'recall, wiki and dreaming can be imported, and are typed', () => {
  const lines = [
    "import { ActiveMemoryRecaller } from 'perch/memory/active-recall';",
    "import { WikiVault } from 'perch/memory/wiki';",
    "import { PromotionScorer } from 'perch/memory/dreaming';",
  ];
  writeFileSync(
    join(packageDir, 'three.js'),
    [...lines, 'console.log(ActiveMemoryRecaller.name, WikiVault.name, PromotionScorer.name);'].join('\n'),
  );
  expect(runInstalled(process.execPath, ['three.js']).trim()).toBe('ActiveMemoryRecaller WikiVault PromotionScorer');
  writeFileSync(
    join(packageDir, 'three.ts'),
    [
      ...lines,
      "export const vault = new WikiVault('wiki');",
      'export const wrong: string[] = [ActiveMemoryRecaller, PromotionScorer];',
    ].join('\n'),
  );
  expect(findTypeErrors(packageDir, 'three.ts').filter((line) => !line.startsWith(' '))).toEqual([
    expect.stringMatching(/^three\.ts\(5,\d+\): error TS2322/),
    expect.stringMatching(/^three\.ts\(5,\d+\): error TS2322/),
  ]);
});

test('it holds plain JavaScript alone: no TypeScript, no tests, no sources of the checkout', () => {
  const files = readdirSync(installed, { recursive: true, encoding: 'utf8' });
  expect(files.filter((file) => /(?<!\.d)\.ts$|\.svelte$|\.test\./.test(file))).toEqual([]);
  expect(files).toContain(join('dist', 'app', 'index.html'));
});
