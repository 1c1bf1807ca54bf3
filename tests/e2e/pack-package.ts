import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { waitFor } from '../support/test-gateway.ts';

const root = join(import.meta.dirname, '../..');
/** npm is a program of the machine: on Windows a script that wants a shell. */
export const NEEDS_SHELL = process.platform === 'win32';

/** Builds the package and packs it into a folder, once for all test files of a run. Returns the packed file. */
export async function packPackage(folder: string): Promise<string> {
  const sharedDir = join(process.env['PERCH_TEST_SHARED'] ?? folder, 'package');
  const result = join(sharedDir, 'result.json');
  try {
    mkdirSync(sharedDir);
  } catch {
    // Another test file is packing it or has done so.
    await waitFor(() => existsSync(result), 'the package', 300_000);
  }
  if (!existsSync(result)) {
    let file: string | null = null;
    try {
      file = buildPackage(sharedDir);
    } finally {
      writeFileSync(`${result}.tmp`, JSON.stringify(file));
      renameSync(`${result}.tmp`, result);
    }
  }
  const file = z
    .string()
    .nullable()
    .parse(JSON.parse(readFileSync(result, 'utf8')));
  if (file === null) throw new Error('the package could not be built: see the first test file that needs it');
  const copy = join(folder, basename(file));
  copyFileSync(file, copy);
  return copy;
}

function buildPackage(folder: string): string {
  execFileSync(process.execPath, [join(root, 'bridge/build.ts')], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  const name = execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], {
    cwd: root,
    shell: NEEDS_SHELL,
    encoding: 'utf8',
  }).trim();
  return join(folder, name);
}

/** TypeScript's errors in a file of a folder, one per line; `module` and `moduleResolution` as in its options. */
export function findTypeErrors(folder: string, file: string, options: readonly string[] = ['--module', 'nodenext']): string[] {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const always = ['--noEmit', '--strict', '--target', 'es2024', '--lib', 'es2024,esnext.disposable,dom'];
  try {
    execFileSync(process.execPath, [tsc, ...always, ...options, file], { cwd: folder, encoding: 'utf8' });
    return [];
  } catch (error) {
    return (error instanceof Error && 'stdout' in error ? String(error.stdout) : '').trim().split('\n');
  }
}
