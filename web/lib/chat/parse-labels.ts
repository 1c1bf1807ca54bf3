/** A folder as it was typed: names with `/` between them; null for none. */
export function parseFolder(typed: string): string | null {
  const names = typed.split('/').map((name) => name.trim());
  return names.filter(Boolean).join('/') || null;
}

/** Maximum length of a tag (`sessions.tag`). */
export const MAX_TAG_CHARS = 50;

/** Tags as they were typed, commas between them: each once. */
export const parseTags = (typed: string): string[] => [...new Set(typed.split(',').flatMap((tag) => tag.trim() || []))];
