// `npm run build`: the publishable package in dist/, in plain JavaScript: the app, the `perch` program, and the libraries with their types.
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, relative } from 'node:path';
import { rolldown, type RolldownOptions } from 'rolldown';
import { z } from 'zod';
import { collectNotices } from './license-notices.ts';

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
const { dependencies, optionalDependencies } = z
  .object({ dependencies: z.record(z.string(), z.string()), optionalDependencies: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));

/** Runs a script of this repository and exits with its code if it fails. */
function run(script: string, ...args: string[]): void {
  const { status } = spawnSync(process.execPath, [join(root, script), ...args], { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(status ?? 1);
}

/** Package name of a bare import specifier. */
const toPackageName = (specifier: string): string => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');

/** Whether a specifier stays external. Throws for a package that is not in `dependencies`. */
const isExternal = (specifier: string): boolean => {
  if (/^[./#]|^\0|^[A-Za-z]:/.test(specifier)) return false;
  if (!isBuiltin(specifier) && !(toPackageName(specifier) in { ...dependencies, ...optionalDependencies }))
    throw new Error(`${specifier} is imported but is not a dependency of the package`);
  return true;
};

interface Bundle {
  platform: RolldownOptions['platform'];
  /** Folder for chunks shared by several entry points. */
  chunks: string;
  /** Packages to include in the bundle. */
  bundled?: readonly string[];
}

async function bundle(input: Record<string, string>, { platform, chunks, bundled = [] }: Bundle): Promise<void> {
  const external = (specifier: string): boolean => isExternal(specifier) && !bundled.includes(toPackageName(specifier));
  const build = await rolldown({ cwd: root, input, platform, external, logLevel: 'warn' });
  await build.write({ dir: dist, format: 'esm', entryFileNames: '[name].js', chunkFileNames: `${chunks}/[name]-[hash].js` });
  await build.close();
}

/** Bundles the browser libraries without external imports: a page may have no bundler, and a worker has no import map. */
async function bundleForBrowser(input: Record<string, string>): Promise<void> {
  const outside = (specifier: string, importer?: string): boolean => {
    if (isBuiltin(specifier)) throw new Error(`${importer ?? 'A library'} imports ${specifier}, which browsers don’t have`);
    return false;
  };
  const build = await rolldown({ cwd: root, input, platform: 'browser', external: outside, logLevel: 'warn' });
  const { output } = await build.write({
    dir: join(dist, 'browser'),
    format: 'esm',
    minify: true,
    entryFileNames: '[name].js',
    chunkFileNames: 'parts/[name]-[hash].js',
  });
  const modules = output.flatMap((part) => (part.type === 'chunk' ? part.moduleIds : []));
  writeFileSync(join(dist, 'browser/LICENSES.md'), collectNotices(modules));
  await build.close();
}

/**
 * Emits a project's type declarations to a folder of dist/types, with the file endings and paths used in a package. `shared`: path of the
 * shared/ declarations within it.
 */
function emitDeclarations(project: string, { rootDir, outDir, shared }: { rootDir: string; outDir: string; shared: string }): void {
  const types = join(dist, 'types', outDir);
  run(
    'node_modules/typescript/bin/tsc',
    '-p',
    project,
    '--noEmit',
    'false',
    '--declaration',
    '--emitDeclarationOnly',
    '--rootDir',
    rootDir,
    '--outDir',
    types,
  );
  for (const entry of readdirSync(types, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const toShared = relative(entry.parentPath, join(types, shared)).replaceAll('\\', '/') || '.';
    const text = readFileSync(file, 'utf8').replaceAll(
      /((?:from|import)\s*\(?\s*['"])(#shared|\.)(\/[^'"]*|\.[^'"]*)\.ts(['"])/g,
      (_, before: string, start: string, rest: string, after: string) =>
        `${before}${start === '#shared' ? `${toShared.startsWith('.') ? '' : './'}${toShared}` : start}${rest}.js${after}`,
    );
    writeFileSync(file, text);
  }
}

/** Libraries exported as `perch/<name>`. */
const LIBRARIES = ['memory', 'active-recall', 'wiki', 'dreaming'];
/** Entry point of a library for Node. `active-recall` stores nothing, so browsers and Node share one. */
const getLibrarySource = (name: string): string => (name === 'active-recall' ? `web/library/${name}` : `bridge/library/${name}`);

mkdirSync(dist, { recursive: true });
for (const stale of [
  'perch.cjs',
  'program.cjs',
  'perch.js',
  'journal-thread.js',
  'keeper.js',
  'browser-driver.js',
  'keyring-reader.js',
  'keyring-writer.js',
  'gguf-runner.js',
  'desktop-grab.js',
  'client.js',
  'client.d.ts',
  ...LIBRARIES.flatMap((name) => [`${name}.js`, `${name}.d.ts`]),
  'bridge',
  'browser',
  'library',
  'shared',
  'types',
])
  rmSync(join(dist, stale), { recursive: true, force: true });
// Builds the app if its sources have changed.
run('bridge/setup.js', '--build');
// Programs that run in their own process or thread: the journal's thread (bridge/journal/open-journal.ts), the process keeper
// (bridge/processes/process-keeper.ts), the browser driver (bridge/capabilities/browser/driver-process.ts), the keyring's reader and writer
// (bridge/capabilities/secrets/keyring.ts), the GGUF runner (bridge/capabilities/gguf/runner-process.ts) and screen capture
// (bridge/capabilities/desktop/desktop-handlers.ts).
const programs = {
  perch: 'bridge/cli/main.ts',
  'journal-thread': 'bridge/journal/thread.ts',
  keeper: 'bridge/processes/keeper.ts',
  'browser-driver': 'bridge/capabilities/browser/driver.ts',
  'keyring-reader': 'bridge/capabilities/secrets/keyring-reader.ts',
  'keyring-writer': 'bridge/capabilities/secrets/keyring-writer.ts',
  'gguf-runner': 'bridge/capabilities/gguf/runner.ts',
  'desktop-grab': 'bridge/capabilities/desktop/grab.ts',
};
// Bundles Zod: the programs use a fifth of it, and loading all of it costs a process 4 MB (tests/bench/NOTES.md).
await bundle(programs, { platform: 'node', chunks: 'bridge', bundled: ['zod'] });
await bundle({ client: 'shared/client/index.ts' }, { platform: 'neutral', chunks: 'shared' });
await bundle(Object.fromEntries(LIBRARIES.map((name) => [name, `${getLibrarySource(name)}.ts`])), {
  platform: 'node',
  chunks: 'library',
});
await bundleForBrowser({ ...Object.fromEntries(LIBRARIES.map((name) => [name, `web/library/${name}.ts`])), ui: 'web/library/ui/index.ts' });
// The `perch` command: parsable by any version of Node.
for (const name of ['perch.cjs', 'program.cjs']) copyFileSync(join(root, 'bridge/launcher', name), join(dist, name));
chmodSync(join(dist, 'perch.cjs'), 0o755);
emitDeclarations('shared', { rootDir: 'shared', outDir: '.', shared: '.' });
writeFileSync(join(dist, 'client.d.ts'), "export * from './types/client/index.js';\n");
emitDeclarations('bridge/library', { rootDir: '.', outDir: 'library', shared: 'shared' });
emitDeclarations('web/library', { rootDir: '.', outDir: 'browser', shared: 'shared' });
emitDeclarations('web/library/ui', { rootDir: '.', outDir: 'browser', shared: 'shared' });
const toTypeExport = (name: string, folder: string): string => `export * from '${folder}/${name}.js';\n`;
for (const name of LIBRARIES) {
  writeFileSync(join(dist, `${name}.d.ts`), toTypeExport(getLibrarySource(name), './types/library'));
  writeFileSync(join(dist, 'browser', `${name}.d.ts`), toTypeExport(`web/library/${name}`, '../types/browser'));
}
writeFileSync(join(dist, 'browser/ui.d.ts'), toTypeExport('web/library/ui/index', '../types/browser'));
