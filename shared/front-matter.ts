/** Maximum characters of front matter; anything longer is treated as text. */
const MAX_CHARS = 256 * 1024;
const FRONT_MATTER_PATTERN = /^\uFEFF?---[ \t]*\r?\n(?:([\s\S]*?)\r?\n)??---[ \t]*(?:\r?\n|$)/;

/** Splits a page's text into the raw YAML between the lines of `---` (undefined if there is none) and the rest. */
export function splitFrontMatter(text: string): { yaml: string | undefined; body: string } {
  // Most pages are small; of a large one only the beginning can be front matter.
  const match = FRONT_MATTER_PATTERN.exec(text.slice(0, MAX_CHARS));
  return match ? { yaml: match[1] ?? '', body: text.slice(match[0].length) } : { yaml: undefined, body: text };
}
