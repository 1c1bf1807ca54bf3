/** A folder as it was typed: names with `/` between them; null for none. */
export function folderOf(typed: string): string | null {
  const names = typed.split('/').map((name) => name.trim());
  return names.filter(Boolean).join('/') || null;
}

/** Maximum length of a tag (`sessions.tag`). */
export const TAG_CHARS = 50;

/** Tags as they were typed, commas between them: each once. */
export const tagsOf = (typed: string): string[] => [...new Set(typed.split(',').flatMap((tag) => tag.trim() || []))];
