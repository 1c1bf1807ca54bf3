import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';

/** Root folder of the package: the checkout or the installed package. */
export const packageRoot = findPackageRoot(import.meta.dirname);
/** Folder of the built app. */
export const getAppDir = join(packageRoot, 'dist', 'app');

export const getPackageVersion = (): string =>
  z.object({ version: z.string() }).parse(JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'))).version;

function findPackageRoot(from: string): string {
  if (existsSync(join(from, 'package.json'))) return from;
  const above = dirname(from);
  if (above === from) throw new Error('package.json of the package is missing');
  return findPackageRoot(above);
}
