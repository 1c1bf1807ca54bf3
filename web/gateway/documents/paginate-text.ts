import type { DocumentText } from './document-reader.ts';

/** A part of a text from `offset`, at most `limit` characters, cut at the end of a line if one is near. */
export function paginateText(text: string, offset: number, limit: number): Pick<DocumentText, 'text' | 'part' | 'next'> {
  const remaining = text.length - offset;
  if (remaining <= limit && offset === 0) return { text };
  let end = Math.min(text.length, offset + limit);
  if (end < text.length) {
    const line = text.lastIndexOf('\n', end) + 1;
    if (line > offset + limit / 2) end = line;
    else if (isHighSurrogate(text, end - 1)) end--;
  }
  const page = text.slice(offset, end);
  return {
    text: page,
    part:
      page === '' ? `no text at this offset; the text has ${text.length} characters` : `characters ${offset + 1}–${end} of ${text.length}`,
    ...(end < text.length ? { next: { offset: end } } : {}),
  };
}

function isHighSurrogate(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code >= 0xd800 && code <= 0xdbff;
}
