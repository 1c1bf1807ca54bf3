import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
/** npm is a program of the machine: on Windows a script that wants a shell. */
export const shell = process.platform === 'win32';

/** Builds the package, and packs it into a folder: its file. */
export function packInto(folder: string): string {
  execFileSync(process.execPath, [join(root, 'bridge/build.ts')], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  const name = execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: root, shell, encoding: 'utf8' }).trim();
  return join(folder, name);
}

/** What TypeScript says of a file in a folder, a line each; `module` and `moduleResolution` as in its options. */
export function typeErrors(folder: string, file: string, options: readonly string[] = ['--module', 'nodenext']): string[] {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const always = ['--noEmit', '--strict', '--target', 'es2024', '--lib', 'es2024,esnext.disposable,dom'];
  try {
    execFileSync(process.execPath, [tsc, ...always, ...options, file], { cwd: folder, encoding: 'utf8' });
    return [];
  } catch (error) {
    return (error instanceof Error && 'stdout' in error ? String(error.stdout) : '').trim().split('\n');
  }
}
