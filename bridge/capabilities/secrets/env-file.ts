import { constants } from 'node:fs';
import { open, realpath, rename } from 'node:fs/promises';
import { getErrorCode, readFileIfExists, describeError, writeFileAtomically } from '../../home-directory.ts';

const MAX_BYTES = 1024 * 1024;
const IS_WINDOWS = process.platform === 'win32';

interface EnvFile {
  values: ReadonlyMap<string, string>;
  /** Why the file is ignored; null if it is used or missing. */
  problem: string | null;
}

const toIgnoredFile = (problem: string): EnvFile => ({ values: new Map(), problem });

/**
 * Reads a file of `NAME=value` lines. `#` begins a comment; values may be quoted. Ignores a file that other users can read or change, or
 * that contains an invalid line. Never rejects.
 */
export async function readEnvFile(path: string): Promise<EnvFile> {
  try {
    // Non-blocking, since opening a FIFO without a writer would hang.
    const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const stats = await file.stat();
      if (!stats.isFile()) return toIgnoredFile('it is not a regular file');
      const mode = stats.mode & 0o777;
      if (!IS_WINDOWS && (mode & 0o077) !== 0)
        return toIgnoredFile(
          `other users can read or change it (mode ${mode.toString(8)}). Run chmod 600 on it, and replace secrets that others may have seen`,
        );
      if (!IS_WINDOWS && stats.uid !== process.getuid?.() && stats.uid !== 0) return toIgnoredFile('it belongs to another user');
      if (stats.size > MAX_BYTES) return toIgnoredFile(`it is larger than ${MAX_BYTES} bytes`);
      return parseEnvFile((await file.readFile('utf8')).replace(/^\uFEFF/, ''));
    } finally {
      await file.close();
    }
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return { values: new Map(), problem: null };
    return toIgnoredFile(`it can’t be read: ${describeError(error)}`);
  }
}

const ENTRY_PATTERN = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=/;

/**
 * Sets or removes an entry of a secrets file, atomically and with mode 0600, keeping comments and other lines. Resolves to whether the
 * entry existed. Rejects with the reason if the file is ignored or can't be written.
 */
export async function updateEnvFile(path: string, name: string, value: string | null): Promise<boolean> {
  const { values, problem } = await readEnvFile(path);
  if (problem !== null) throw new Error(`${path} is ignored: ${problem}`);
  const exists = values.has(name);
  if (value === null && !exists) return false;
  const lines = ((await readFileIfExists(path)) ?? '').split('\n').filter((line) => ENTRY_PATTERN.exec(line)?.[1] !== name);
  while (lines.at(-1) === '') lines.pop();
  if (value !== null) lines.push(`${name}=${quoteValue(value)}`);
  await writeFileAtomically(await realpath(path).catch(() => path), lines.length === 0 ? '' : `${lines.join('\n')}\n`, rename);
  return exists;
}

/** The inverse of `parseValue`. Throws if a value needs quotes and contains both kinds. */
function quoteValue(value: string): string {
  if (parseValue(value) === value && value.trim() === value) return value;
  const quote = ['"', "'"].find((each) => !value.includes(each));
  if (quote === undefined) throw new Error('secrets.env can’t store a value with both kinds of quotes');
  return quote + value + quote;
}

function parseEnvFile(text: string): EnvFile {
  const values = new Map<string, string>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*(#|$)/.test(line)) continue;
    const [, name, rest = ''] = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=(.*)$/.exec(line) ?? [];
    const value = parseValue(rest.trim());
    // Do not reveal the contents of the line.
    if (name === undefined || value === undefined) return toIgnoredFile(`line ${index + 1} is not NAME=value`);
    values.set(name, value);
  }
  return { values, problem: null };
}

/** Removes quotes and a trailing comment. Undefined if a quote is not closed. */
function parseValue(text: string): string | undefined {
  const quote = /^["']/.exec(text)?.[0];
  if (quote === undefined) return text.replace(/(^|\s+)#.*$/, '');
  const end = text.indexOf(quote, 1);
  return end > 0 && /^\s*(#.*)?$/.test(text.slice(end + 1)) ? text.slice(1, end) : undefined;
}
