import type { ImportFile } from '../import-files.ts';

/** A page of the wiki: its path, and its text with front matter. */
export interface NotePage {
  path: string;
  text: string;
}

/** A Markdown file or table that was read, before it is converted. */
export interface NoteSource {
  path: string;
  text: string;
}

/** A picture, with the path that it gets in the wiki. */
export interface NotePicture {
  path: string;
  file: ImportFile;
}

export interface Notes {
  pages: NotePage[];
  pictures: NotePicture[];
  /** Names of files that were left out. */
  leftOut: string[];
}

/** The note format of a program. */
export interface NoteFormat {
  product: string;
  /** Whether files with these paths are of this program. */
  detect(paths: readonly string[]): boolean;
  convert(sources: readonly NoteSource[], pictures: readonly NotePicture[], tables: readonly NoteSource[]): Notes;
}

/** Characters that neither file systems nor links can have in the name of a page. */
const FORBIDDEN_CHARS = /[\p{Cc}\p{Cf}\\:*?"<>|#^[\]]/gu;
const MAX_NAME_CHARS = 120;

/** A path that a page can have: forbidden characters are replaced, names are shortened. */
export const toPagePath = (path: string): string =>
  path
    .normalize('NFC')
    .split('/')
    .map((name, at, names) => {
      const end = at === names.length - 1 ? (/\.[a-z]{2,5}$/i.exec(name)?.[0] ?? '') : '';
      const stem = name
        .slice(0, name.length - end.length)
        .replace(FORBIDDEN_CHARS, '-')
        .trim()
        .replace(/^\.+/, '')
        .slice(0, MAX_NAME_CHARS);
      return (stem.replace(/[\ud800-\udbff]$|[. ]+$/g, '') || 'Untitled') + end;
    })
    .join('/');

/** Returns the path, with a number if it is used already. `usedPaths` is in lower case. */
export function toFreePath(path: string, usedPaths: Set<string>): string {
  const [, stem = path, end = ''] = /^(.*?)(\.[a-z]{2,5})?$/is.exec(path) ?? [];
  let free = path;
  for (let count = 2; usedPaths.has(free.toLowerCase()); count++) free = `${stem} ${count}${end}`;
  usedPaths.add(free.toLowerCase());
  return free;
}

/** A text as a value of YAML. */
export const toYaml = (text: string): string => JSON.stringify(text);
