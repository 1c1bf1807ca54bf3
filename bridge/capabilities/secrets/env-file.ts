import { constants } from 'node:fs';
import { open, realpath, rename } from 'node:fs/promises';
import { codeOf, readIfThere, reasonOf, writeWhole } from '../../home.ts';

const MAX_BYTES = 1024 * 1024;
const WINDOWS = process.platform === 'win32';

export interface EnvFile {
  values: ReadonlyMap<string, string>;
  /** Why it is not used; null where it is, or where there is none. */
  problem: string | null;
}

const refused = (problem: string): EnvFile => ({ values: new Map(), problem });

/**
 * Reads a file of `NAME=value` lines; `#` begins a comment, quotes may stand around a value. One that others than its owner may read or change is not used, nor is one with a line
 * that is no entry. Never rejects.
 */
export async function readEnvFile(path: string): Promise<EnvFile> {
  try {
    // A pipe that nobody writes to would hold up who opens it.
    const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const stats = await file.stat();
      if (!stats.isFile()) return refused('it is not a regular file');
      const mode = stats.mode & 0o777;
      if (!WINDOWS && (mode & 0o077) !== 0)
        return refused(
          `other users can read or change it (mode ${mode.toString(8)}). Run chmod 600 on it, and replace secrets that others may have seen`,
        );
      if (!WINDOWS && stats.uid !== process.getuid?.() && stats.uid !== 0) return refused('it belongs to another user');
      if (stats.size > MAX_BYTES) return refused(`it is larger than ${MAX_BYTES} bytes`);
      return parse((await file.readFile('utf8')).replace(/^\uFEFF/, ''));
    } finally {
      await file.close();
    }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return { values: new Map(), problem: null };
    return refused(`it can’t be read: ${reasonOf(error)}`);
  }
}

const ENTRY = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=/;

/**
 * Sets an entry of a file of secrets, or takes it away, in one step and with mode 0600; comments and other lines stay. Resolves with whether it was there. Rejects, with why, where the
 * file is there and not used, or cannot be written.
 */
export async function changeEnvFile(path: string, name: string, value: string | null): Promise<boolean> {
  const { values, problem } = await readEnvFile(path);
  if (problem !== null) throw new Error(`${path} is ignored: ${problem}`);
  const isThere = values.has(name);
  if (value === null && !isThere) return false;
  const lines = ((await readIfThere(path)) ?? '').split('\n').filter((line) => ENTRY.exec(line)?.[1] !== name);
  while (lines.at(-1) === '') lines.pop();
  if (value !== null) lines.push(`${name}=${quoted(value)}`);
  await writeWhole(await realpath(path).catch(() => path), lines.length === 0 ? '' : `${lines.join('\n')}\n`, rename);
  return isThere;
}

/** As `valueOf` reads it. Throws where a value has both kinds of quotes and needs one. */
function quoted(value: string): string {
  if (valueOf(value) === value && value.trim() === value) return value;
  const quote = ['"', "'"].find((each) => !value.includes(each));
  if (quote === undefined) throw new Error('secrets.env can’t store a value with both kinds of quotes');
  return quote + value + quote;
}

function parse(text: string): EnvFile {
  const values = new Map<string, string>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*(#|$)/.test(line)) continue;
    const [, name, rest = ''] = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=(.*)$/.exec(line) ?? [];
    const value = valueOf(rest.trim());
    // What stands in the line is nobody's to read here.
    if (name === undefined || value === undefined) return refused(`line ${index + 1} is not NAME=value`);
    values.set(name, value);
  }
  return { values, problem: null };
}

/** Without quotes around, and without a comment behind; undefined where a quote does not end. */
function valueOf(text: string): string | undefined {
  const quote = /^["']/.exec(text)?.[0];
  if (quote === undefined) return text.replace(/(^|\s+)#.*$/, '');
  const end = text.indexOf(quote, 1);
  return end > 0 && /^\s*(#.*)?$/.test(text.slice(end + 1)) ? text.slice(1, end) : undefined;
}
