import { resolveRelative } from '#shared/wiki-link.ts';

/** The folder of a workspace that contains its wiki. */
export const WIKI_FOLDER = 'wiki';

interface WikiFile {
  path: string;
  size: number;
  mimeType: string;
}

/**
 * The file of a picture: next to the page, from the root of the wiki, or as in Obsidian anywhere by its name, the one closest to the root
 * first.
 */
export function findPicture(files: readonly WikiFile[], from: string, name: string): WikiFile | undefined {
  const pictures = files.filter(({ mimeType }) => /^image\/(png|jpeg|gif|webp|avif)$/.test(mimeType));
  const byPath = new Map(pictures.map((file) => [file.path.slice(WIKI_FOLDER.length + 1).toLowerCase(), file]));
  const normalized = name.normalize('NFC');
  for (const path of [resolveRelative(`./${normalized}`, from), resolveRelative(normalized, from)]) {
    const match = byPath.get(path.toLowerCase());
    if (match) return match;
  }
  const end = `/${normalized.replace(/^(\.\.?\/)+/, '')}`.toLowerCase();
  return [...byPath]
    .filter(([path]) => `/${path}`.endsWith(end))
    .sort(([a], [b]) => a.split('/').length - b.split('/').length || (a < b ? -1 : 1))[0]?.[1];
}
