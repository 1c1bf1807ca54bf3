/** Hands a file to the person, as browsers do downloads. */
export function saveFile(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  Object.assign(document.createElement('a'), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** Converts a title to a file name that is valid on every system, without an extension. `other`: the name if no valid character is left. */
export const toFileName = (title: string, other: string): string =>
  title
    .replace(/[^\p{L}\p{N} _.-]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .replace(/^[ .]+|[ .]+$/g, '')
    .slice(0, 100) || other;
