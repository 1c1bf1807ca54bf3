/** Characters of one name or value of a caller's that an error repeats: as many as an id may have. */
const MAX_REPEATED = 128;
/** Characters of an error's sentence. */
export const MAX_MESSAGE = 2000;

/** Shortens a caller's text for an error message. */
export const cutShort = (text: string, most = MAX_REPEATED): string =>
  text.length <= most ? text : `${text.slice(0, most).replace(/[\ud800-\udbff]$/, '')}…`;

/** Path within a caller's value, such as `chat.models`; its keys may be the caller's own. */
export const placeOf = (path: readonly PropertyKey[]): string => path.map((key) => cutShort(String(key))).join('.');

/** Maximum characters of the note about omitted text. */
const NOTE_CHARS = 50;

/** Shortens the text to `most` characters: its beginning, a note about the omitted length, and its end. */
export function withoutMiddle(text: string, most: number): string {
  if (text.length <= most) return text;
  const half = Math.max(0, Math.floor((most - NOTE_CHARS) / 2));
  return `${text.slice(0, half)}\n[… ${text.length - 2 * half} characters omitted …]\n${text.slice(text.length - half)}`;
}
