import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A check that keeps a promise of security, and the tests that must fail without it. */
export interface Guard {
  name: string;
  /** File of the guard. */
  file: string;
  /** Code of the guard, which stands in the file exactly once. */
  find: string;
  /** Code that disables it, and still runs. */
  replace: string;
  /** Test file that must fail. */
  test: string;
  /** Part of the names of the tests that are run, a regular expression; all of the file if there is none. */
  only?: string;
  /** Only a test of the built app notices: the app is built with the patch. */
  needsApp?: boolean;
}

/** The file with the guard disabled. Throws if the patch does not apply exactly once. */
export function applyPatch({ name, file, find, replace }: Guard, root: string): string {
  const source = readFileSync(join(root, file), 'utf8');
  const parts = source.split(find);
  if (parts.length !== 2) throw new Error(`${name}: the patch applies ${parts.length - 1} times to ${file}`);
  return parts.join(replace);
}
