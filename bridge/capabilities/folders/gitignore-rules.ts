import { lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import ignore, { type Ignore } from 'ignore';

const MAX_FILE_BYTES = 256 * 1024;
/** Maximum wildcards of a pattern: the time to match a name can grow with its length to the power of them. */
const MAX_WILDCARDS = 4;

/** As git's default on the disks of these systems. */
const IS_CASE_INSENSITIVE = process.platform === 'darwin' || process.platform === 'win32';

/** Rules of one `.gitignore` file. */
interface IgnoreRules {
  /** Its folder below the root, with `/` at the end; empty for the root. */
  folder: string;
  rules: Ignore;
}

/** Rules that apply in a folder, those of the innermost file last; undefined outside of a repository. */
export type IgnoreStack = readonly IgnoreRules[] | undefined;

/** Adds the rules of a folder to those of the folder above it. `isRepository`: whether the folder has `.git`. */
export async function enterFolder(stack: IgnoreStack, path: string, folder: string, names: ReadonlySet<string>): Promise<IgnoreStack> {
  // A repository within another one has rules of its own.
  const rules = names.has('.git') ? [] : stack;
  if (rules === undefined || !names.has('.gitignore')) return rules;
  const file = join(path, '.gitignore');
  try {
    const stats = await lstat(file);
    if (!stats.isFile() || stats.size > MAX_FILE_BYTES) return rules;
    const lines = (await readFile(file, 'utf8')).split(/\r?\n/).filter((line) => (line.match(/\*+|\?|\[/g)?.length ?? 0) <= MAX_WILDCARDS);
    return [...rules, { folder, rules: ignore({ allowRelativePaths: true, ignorecase: IS_CASE_INSENSITIVE }).add(lines) }];
  } catch {
    // Not readable: no rules.
    return rules;
  }
}

/** Whether a path is ignored. Paths of folders end with `/`. The innermost file that says something about it decides. */
export function isIgnored(stack: IgnoreStack, path: string): boolean {
  for (const { folder, rules } of (stack ?? []).toReversed()) {
    const { ignored, unignored } = rules.test(path.slice(folder.length));
    if (ignored || unignored) return ignored;
  }
  return false;
}
