/** Maximum length that a message field shows well. */
const MAX_PASTE_CHARS = 4_000;
const MAX_PASTE_LINES = 80;

/** Whether a pasted text becomes a file of the message. */
export const isLongPaste = (text: string): boolean =>
  text.length > MAX_PASTE_CHARS || text.split('\n', MAX_PASTE_LINES + 1).length > MAX_PASTE_LINES;

/** Creates a file name that is not in use. */
export function createPasteFileName(files: readonly { filename: string }[]): string {
  const usedNames = new Set(files.map(({ filename }) => filename));
  let name = 'pasted-text.txt';
  for (let count = 2; usedNames.has(name); count++) name = `pasted-text-${count}.txt`;
  return name;
}
