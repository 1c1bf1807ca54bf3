/** Parses a typed folder: names separated by `/`; null if empty. */
export function parseFolder(typed: string): string | null {
  const names = typed.split('/').map((name) => name.trim());
  return names.filter(Boolean).join('/') || null;
}

/** Maximum length of a tag (`sessions.tag`). */
export const MAX_TAG_CHARS = 50;

/** Parses typed tags, separated by commas, without duplicates. */
export const parseTags = (typed: string): string[] => [...new Set(typed.split(',').flatMap((tag) => tag.trim() || []))];
