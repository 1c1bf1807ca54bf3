import { RpcError } from '#shared/rpc/rpc-error.ts';

const MAX_NAME_CHARS = 200;
/** File systems allow names of up to 255 bytes, and a file has a longer extension while it is being written. */
const MAX_NAME_BYTES = 225;
const MAX_DEPTH = 10;
/** Characters and names that some file system or Obsidian's links do not allow. */
const FORBIDDEN_CHARS = /[\p{Cc}\p{Cf}\\:*?"<>|#^[\]]/u;
const RESERVED_NAMES = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)|^node_modules$/i;

const createPathError = (path: string, reason: string): RpcError =>
  new RpcError('INVALID_PARAMS', `Invalid page path ${JSON.stringify(path.slice(0, 200))}: ${reason}.`);

/**
 * Normalizes the path of a page: `entities/Miso` and `entities/Miso.md` both become `entities/Miso.md`. Throws INVALID_PARAMS for anything
 * but names separated by `/`, so that a path cannot leave the vault or enter its hidden folders.
 */
export function toPagePath(input: string): string {
  const path = toFolderPath(input);
  return /\.md$/i.test(path) ? path : `${path}.md`;
}

/** Normalizes the path of a folder of pages, by the same rules. */
export function toFolderPath(path: string): string {
  const names = path.normalize('NFC').split('/');
  if (names.length > MAX_DEPTH) throw createPathError(path, 'it has too many folders');
  for (const name of names) {
    if (name === '') throw createPathError(path, 'names must not be empty');
    if (name.startsWith('.')) throw createPathError(path, 'names must not start with a full stop');
    if (/[. ]$/.test(name) || name.startsWith(' '))
      throw createPathError(path, 'names must not end with a full stop, or start or end with a space');
    if (name.length > MAX_NAME_CHARS) throw createPathError(path, `names must have at most ${MAX_NAME_CHARS} characters`);
    if (new TextEncoder().encode(name).length > MAX_NAME_BYTES)
      throw createPathError(path, `names must have at most ${MAX_NAME_BYTES} bytes in UTF-8`);
    if (FORBIDDEN_CHARS.test(name) || RESERVED_NAMES.test(name))
      throw createPathError(path, 'a name or character is not allowed in file names');
  }
  return names.join('/');
}

/** Whether a path is a Markdown file outside hidden folders. */
export const isMarkdown = (path: string): boolean => /\.md$/i.test(path) && !path.split('/').some((name) => name.startsWith('.'));

/** Whether a Markdown file is a valid page: other programs may create files with any name. */
export const isPage = (path: string): boolean => isMarkdown(path) && findNameProblem(path) === undefined;

/** Why a file name is invalid for a page; undefined if it is valid. */
export function findNameProblem(path: string): string | undefined {
  try {
    return toFolderPath(path) === path ? undefined : 'The name is not in Unicode NFC form';
  } catch (error) {
    return error instanceof Error ? error.message : 'Invalid page name';
  }
}

/** `Miso` for `entities/Miso.md`. */
export const getPageName = (path: string): string => (path.split('/').at(-1) ?? '').replace(/\.md$/i, '');

/** `entities` for `entities/Miso.md`; empty at the top level. */
export const getFolder = (path: string): string => path.split('/').slice(0, -1).join('/');
