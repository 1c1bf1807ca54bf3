/** Escapes text for XML, in ASCII, so that the encoding does not matter. */
export const escapeXml = (text: string): string =>
  text.replace(/[&<>]|[^\x20-\x7e]/gu, (char) => `&#x${char.codePointAt(0)?.toString(16) ?? ''};`);
