import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

test('no module that test files share registers hooks when it is loaded: only the first file of a worker would have them', () => {
  const files = ['shared', 'web', 'bridge', 'tests']
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && file !== join('tests', 'setup.ts'));
  expect(files.length).toBeGreaterThan(1000);
  const hook = /^(before|after)(All|Each)\(/m;
  expect(files.filter((file) => hook.test(readFileSync(join(root, file), 'utf8')))).toEqual([]);
});
