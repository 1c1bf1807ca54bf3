import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const [app, tools] = ['package.json', 'tests/tools/package.json'].map(
  (file) => JSON.parse(readFileSync(join(root, file), 'utf8')) as Record<'dependencies' | 'devDependencies', Record<string, string>>,
);
const sources = globSync(['{web,bridge,shared,tests}/**/*.{ts,js,svelte}', 'vite.config.ts'], { cwd: root })
  .filter((file) => !file.includes('node_modules'))
  .map((file) => readFileSync(join(root, file), 'utf8'));

test.each([
  ...['vite', 'svelte', 'fabric', 'idb', 'comlink', '@xenova/transformers', 'ws', 'fastify', 'playwright'],
  ...['@modelcontextprotocol/client', '@modelcontextprotocol/server', '@modelcontextprotocol/sdk', 'workbox-window', 'msw'],
])('%s is a dependency and is imported', (name) => {
  expect({ ...app?.dependencies, ...app?.devDependencies, ...tools?.devDependencies }).toHaveProperty([name]);
  const isImport = new RegExp(`(?:from|import)\\s*\\(?\\s*['"]${name}(?:/[^'"]*)?['"]`);
  expect(sources.some((source) => isImport.test(source))).toBe(true);
});

test('the top level keeps its names', () => {
  const entries = globSync('*', { cwd: root });
  for (const name of ['package.json', 'web', 'bridge', 'shared', 'public', 'vite.config.ts', 'tests']) expect(entries).toContain(name);
});
