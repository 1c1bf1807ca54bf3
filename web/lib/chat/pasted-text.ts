/** Maximum length that a message field shows well. */
const MAX_PASTE_CHARS = 4_000;
const MAX_PASTE_LINES = 80;

/** Whether a text that is pasted into a message becomes a file of it. */
export const isLongPaste = (text: string): boolean =>
  text.length > MAX_PASTE_CHARS || text.split('\n', MAX_PASTE_LINES + 1).length > MAX_PASTE_LINES;

/** A name that none of these files has. */
export function createPasteFileName(files: readonly { filename: string }[]): string {
  const taken = new Set(files.map(({ filename }) => filename));
  let name = 'pasted-text.txt';
  for (let count = 2; taken.has(name); count++) name = `pasted-text-${count}.txt`;
  return name;
}
