/** Characters of one name or value of a caller's that an error repeats: as many as an id may have. */
const MAX_VALUE_CHARS = 128;
/** Characters of an error's sentence. */
export const MAX_ERROR_CHARS = 2000;

/** Shortens a caller's text for an error message. */
export const truncateText = (text: string, maxChars = MAX_VALUE_CHARS): string =>
  text.length <= maxChars ? text : `${text.slice(0, maxChars).replace(/[\ud800-\udbff]$/, '')}…`;

/** Path within a caller's value, such as `chat.models`; its keys may be the caller's own. */
export const formatValuePath = (path: readonly PropertyKey[]): string => path.map((key) => truncateText(String(key))).join('.');

/** Maximum characters of the note about omitted text. */
const MAX_NOTE_CHARS = 50;

/** Shortens the text to `maxChars` characters: its beginning, a note about the omitted length, and its end. */
export function truncateMiddle(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const half = Math.max(0, Math.floor((maxChars - MAX_NOTE_CHARS) / 2));
  return `${text.slice(0, half)}\n[… ${text.length - 2 * half} characters omitted …]\n${text.slice(text.length - half)}`;
}
