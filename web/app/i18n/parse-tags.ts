interface TextPart {
  /** Null for plain text. */
  tag: string | null;
  inner: string;
}

/** Splits a sentence such as `Open <link>Models</link> first.` at its tags. Tags do not nest. */
export function parseTags(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let at = 0;
  for (const { index, 0: match, 1: tag = '', 2: inner = '' } of text.matchAll(/<(\w+)>([^]*?)<\/\1>/g)) {
    if (index > at) parts.push({ tag: null, inner: text.slice(at, index) });
    parts.push({ tag, inner });
    at = index + match.length;
  }
  if (at < text.length) parts.push({ tag: null, inner: text.slice(at) });
  return parts;
}
