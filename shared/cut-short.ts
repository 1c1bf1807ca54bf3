/** Characters of one name or value of a caller's that an error repeats: as many as an id may have. */
const MAX_REPEATED = 128;
/** Characters of an error's sentence. */
export const MAX_MESSAGE = 2000;

/** What a caller sent, as an error repeats it: no longer than a person reads. */
export const cutShort = (text: string, most = MAX_REPEATED): string =>
  text.length <= most ? text : `${text.slice(0, most).replace(/[\ud800-\udbff]$/, '')}…`;

/** Where something stands in what a caller sent, as `chat.models`: its keys may be the caller's own. */
export const placeOf = (path: readonly PropertyKey[]): string => path.map((key) => cutShort(String(key))).join('.');

/** Characters that the note about what is left out may take. */
const NOTE_CHARS = 50;

/** The text in so many characters: its beginning, how much is left out, and its end. */
export function withoutMiddle(text: string, most: number): string {
  if (text.length <= most) return text;
  const half = Math.max(0, Math.floor((most - NOTE_CHARS) / 2));
  return `${text.slice(0, half)}\n[… ${text.length - 2 * half} characters omitted …]\n${text.slice(text.length - half)}`;
}
