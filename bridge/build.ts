// `npm run build`: the publishable package in dist/, in plain JavaScript: the app, the `perch` program, and the libraries with their types.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { rolldown, type RolldownOptions } from 'rolldown';
import { z } from 'zod';

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
const { dependencies } = z
  .object({ dependencies: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));

/** Runs a program of ours; its failure is the build's. */
function run(script: string, ...args: string[]): void {
  const { status } = spawnSync(process.execPath, [join(root, script), ...args], { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(status ?? 1);
}

/** The name of the package that a bare specifier is of. */
const packageOf = (specifier: string): string => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');

/** What the package depends on stays outside; what it does not depend on must not be imported. */
const external = (specifier: string): boolean => {
  if (/^[./#]|^\0|^[A-Za-z]:/.test(specifier)) return false;
  if (!isBuiltin(specifier) && !(packageOf(specifier) in dependencies))
    throw new Error(`${specifier} is imported, but no dependency of the package`);
  return true;
};

async function bundle(input: Record<string, string>, platform: RolldownOptions['platform'], chunks: string): Promise<void> {
  const build = await rolldown({ cwd: root, input, platform, external, logLevel: 'warn' });
  await build.write({ dir: dist, format: 'esm', entryFileNames: '[name].js', chunkFileNames: `${chunks}/[name]-[hash].js` });
  await build.close();
}

/** Declarations of shared/, with the endings that they have in a package. */
function declarations(): void {
  const types = join(dist, 'types');
  run(
    'node_modules/typescript/bin/tsc',
    '-p',
    'shared',
    '--noEmit',
    'false',
    '--declaration',
    '--emitDeclarationOnly',
    '--rootDir',
    'shared',
    '--outDir',
    types,
  );
  for (const entry of readdirSync(types, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/((?:from|import)\s*\(?\s*['"]\.[^'"]*)\.ts(['"])/g, '$1.js$2'));
  }
  writeFileSync(join(dist, 'client.d.ts'), "export * from './types/client/index.js';\n");
}

mkdirSync(dist, { recursive: true });
for (const stale of [
  'perch.js',
  'journal-thread.js',
  'exec-keeper.js',
  'browser-driver.js',
  'client.js',
  'client.d.ts',
  'bridge',
  'shared',
  'types',
])
  rmSync(join(dist, stale), { recursive: true, force: true });
// The app, where its sources have changed.
run('bridge/setup.js', '--build');
// The journal's thread (bridge/journal/open.ts), the keeper of commands (bridge/capabilities/exec/keep.ts) and the driver of browsers
// (bridge/capabilities/browser/apart.ts) are programs of their own.
const programs = {
  perch: 'bridge/cli/main.ts',
  'journal-thread': 'bridge/journal/thread.ts',
  'exec-keeper': 'bridge/capabilities/exec/keeper.ts',
  'browser-driver': 'bridge/capabilities/browser/driver.ts',
};
await bundle(programs, 'node', 'bridge');
await bundle({ client: 'shared/client/index.ts' }, 'neutral', 'shared');
chmodSync(join(dist, 'perch.js'), 0o755);
declarations();
