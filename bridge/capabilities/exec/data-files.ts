import { realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ExpandedCommand } from './expand-command.ts';
import { fingerprintFile, MAX_HASHED_BYTES } from './file-fingerprint.ts';
import { findInterpreter, getProjectFiles, toProgramName } from './interpreters.ts';

/** Total bytes that are hashed completely per command; further files are identified by inode, size and time. */
const MAX_TOTAL_BYTES = 1024 * 1024 * 1024;

/** Programs that only read their files as data. */
const READER_PROGRAMS = new Set(
  `cat head tail wc ls stat file du grep egrep fgrep rg cut sort uniq tr diff cmp cksum md5sum sha1sum sha224sum sha256sum sha512sum cp mv rm ln touch
   basename dirname realpath readlink echo printf tee split base64 xxd od hexdump strings jq gzip gunzip bzip2 xz zstd zip unzip tar
   ffmpeg ffprobe convert magick identify pdftotext`.split(/\s+/),
);

/** Programs of that list which an argument can make execute a file. */
const EXECUTING_READERS = new Set(['rg', 'sort', 'split', 'zip', 'tar']);

interface DataFile {
  path: string;
  fingerprint: string;
  bytes: number;
  /** Whether "always" also covers other contents of it. */
  isData: boolean;
  isExecutable: boolean;
}

/** Separators of words in code, and in options such as `--to-command=sh x.sh`. */
const SEPARATORS = /[\s'"`;&|()<>{}=,:!]+/;
/** Maximum number of folders in a command's words in which its other words are looked up, as in `cd sub && sh x.sh`. */
const MAX_FOLDERS = 8;

/**
 * Finds the regular files that a command's arguments name and the program opens itself. A file that the program may execute is never data:
 * executable files, and files named inside an argument or in code. Also returns the folders that the arguments name.
 */
export async function findDataFiles(
  command: string,
  realPath: string,
  args: readonly string[],
  dir: string,
  { scripts, loaded, inline, isInterpreter }: ExpandedCommand,
): Promise<{ files: DataFile[]; folders: string[] }> {
  const run = new Set(scripts.map(({ path }) => path));
  const name = toProgramName(realPath);
  const isReader = READER_PROGRAMS.has(name) && !isInterpreter;
  const isOnlyReader = isReader && !EXECUTING_READERS.has(name);
  // An approved script decides how later arguments are used. Those before it, and all if there is inline code, may be executed.
  const scriptFlags = await Promise.all(args.map(async (arg) => run.has(await realpath(resolve(dir, arg)).catch(() => ''))));
  const isScript = run.has(realPath) && !findInterpreter(command, realPath);
  const scriptAt = isScript ? -1 : scriptFlags.indexOf(true);
  const hasScript = (isScript || scriptAt >= 0) && inline.length === 0;
  const words = new Map<string, boolean>();
  const add = (word: string, isData: boolean): void => void (word !== '' && words.set(word, isData && words.get(word) !== false));
  for (const [at, arg] of args.entries()) {
    const isData = !inline.includes(arg) && (isReader || (hasScript && at > scriptAt));
    const wholeWords = [arg, arg.replace(/^[^=]*=/, ''), ...(/^(?:@|-[A-Za-z])(.+)/s.exec(arg)?.slice(1) ?? [])];
    for (const word of wholeWords) add(word, isData);
    for (const word of arg.split(SEPARATORS)) if (!wholeWords.includes(word)) add(word, isOnlyReader);
  }
  if (!isOnlyReader) for (const file of [command, ...words.keys()].flatMap(getProjectFiles)) add(file, false);
  const isDataByPath = new Map(loaded.map((path) => [path, false]));
  const folders = await findFolders([...words.keys()], dir);
  for (const folder of [dir, ...folders])
    for (const [word, isData] of words) {
      const path = resolve(folder, word);
      isDataByPath.set(path, isData && isDataByPath.get(path) !== false);
    }
  const found: DataFile[] = [];
  let remainingBytes = MAX_TOTAL_BYTES;
  for (const [path, isData] of isDataByPath) {
    const real = await realpath(path).catch(() => undefined);
    if (real === undefined || run.has(real)) continue;
    const file = await fingerprintFile(real, Math.min(MAX_HASHED_BYTES, remainingBytes));
    if (!file) continue;
    if (file.isWhole) remainingBytes -= file.bytes;
    found.push({
      path,
      fingerprint: file.digest,
      bytes: file.bytes,
      isData: isData && (isOnlyReader || !file.isExecutable),
      isExecutable: file.isExecutable,
    });
  }
  return { files: found, folders };
}

async function findFolders(words: readonly string[], dir: string): Promise<string[]> {
  const paths = [...new Set(words.map((word) => resolve(dir, word)))].filter((path) => path !== dir);
  const found: string[] = [];
  for (const path of paths) {
    if (found.length >= MAX_FOLDERS) break;
    if ((await stat(path).catch(() => undefined))?.isDirectory()) found.push(path);
  }
  return found;
}
