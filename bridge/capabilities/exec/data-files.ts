import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Expanded } from './expand.ts';
import { fingerprintFile, MAX_HASHED_BYTES } from './files.ts';
import { findInterpreter, toProgramName } from './interpreters.ts';

/** Bytes that are hashed whole for one command; files after that are known by identity, size and time. */
const MAX_TOTAL_BYTES = 1024 * 1024 * 1024;

/** Programs that take their files as data, whatever is in them. */
const READERS = new Set(
  `cat head tail wc ls stat file du grep egrep fgrep rg cut sort uniq tr diff cmp cksum md5sum sha1sum sha224sum sha256sum sha512sum cp mv rm ln touch
   basename dirname realpath readlink echo printf tee split base64 xxd od hexdump strings jq gzip gunzip bzip2 xz zstd zip unzip tar
   ffmpeg ffprobe convert magick identify pdftotext pandoc exiftool`.split(/\s+/),
);

export interface DataFile {
  path: string;
  print: string;
  bytes: number;
  /** "Always" covers other contents of it, too. */
  isData: boolean;
}

/** The regular files among a command's arguments that are not run themselves, and those that its code names. The program opens them itself. */
export async function findDataFiles(
  command: string,
  realPath: string,
  args: readonly string[],
  dir: string,
  { scripts, loaded, inline, isInterpreter }: Expanded,
): Promise<DataFile[]> {
  const run = new Set(scripts.map(({ path }) => path));
  const isReader = READERS.has(toProgramName(realPath)) && !isInterpreter;
  // An approved script decides what becomes of the arguments after it. Those before it, and those after code, may be run.
  const places = await Promise.all(args.map(async (arg) => run.has(await realpath(resolve(dir, arg)).catch(() => ''))));
  const isScript = run.has(realPath) && !findInterpreter(command, realPath);
  const scriptAt = isScript ? -1 : places.indexOf(true);
  const hasScript = (isScript || scriptAt >= 0) && inline.length === 0;
  const named = new Map<string, boolean>();
  for (const path of [...loaded, ...inline.flatMap((code) => code.split(/[\s'"`;&|()<>{}=,]+/))]) named.set(resolve(dir, path), false);
  for (const [at, arg] of args.entries()) {
    if (inline.includes(arg)) continue;
    const isData = isReader || (hasScript && at > scriptAt);
    for (const path of [arg, ...(/^[^=]*=(.+)$/s.exec(arg)?.slice(1) ?? []), ...(arg.startsWith('@') ? [arg.slice(1)] : [])])
      if (path !== '' && !named.has(resolve(dir, path))) named.set(resolve(dir, path), isData);
  }
  const found: DataFile[] = [];
  let left = MAX_TOTAL_BYTES;
  for (const [path, data] of named) {
    const real = await realpath(path).catch(() => undefined);
    if (real === undefined || run.has(real)) continue;
    const file = await fingerprintFile(real, Math.min(MAX_HASHED_BYTES, left));
    if (!file) continue;
    if (file.isWhole) left -= file.bytes;
    found.push({ path, print: file.print, bytes: file.bytes, isData: data });
  }
  return found;
}
