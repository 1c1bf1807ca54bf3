import type { CitableSource } from '#shared/rpc/passage.ts';

/** Passages end at a paragraph once they have this many characters, and inside one at the maximum. */
const GOOD_CHARS = 1200;
const MAX_CHARS = 2000;

/** A page's text in Markdown, or the part of it that begins at `offset`. */
interface PageText {
  url: string;
  title: string;
  text: string;
  offset: number;
}

interface Passage {
  headings: string[];
  /** Offsets in the text. */
  start: number;
  end: number;
}

/** Splits a text at its headings and paragraphs. A heading belongs to the passage below it; blocks of code stay together if they fit. */
function splitPassages(text: string): Passage[] {
  const passages: Passage[] = [];
  let headings: string[] = [];
  let current: Passage | undefined;
  let hasText = false;
  let isInCode = false;
  const close = (): void => {
    if (current && text.slice(current.start, current.end).trim() !== '') passages.push(current);
    current = undefined;
    hasText = false;
  };
  for (let start = 0; start < text.length;) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline + 1;
    const line = text.slice(start, Math.min(end, start + MAX_CHARS));
    const [, marks = '', heading = ''] = (isInCode ? null : /^(#{1,6}) (\S.*)$/.exec(line.trimEnd())) ?? [];
    if (marks !== '') {
      if (hasText) close();
      headings = [...headings.slice(0, marks.length - 1), heading.slice(0, 200)].filter(Boolean);
    } else if (line.trim() === '' && !isInCode && current && current.end - current.start >= GOOD_CHARS) close();
    if (line.startsWith('```')) isInCode = !isInCode;
    for (let at = start; at < end; at += MAX_CHARS) {
      const pieceEnd = Math.min(end, at + MAX_CHARS);
      if (current && pieceEnd - current.start > MAX_CHARS) close();
      current ??= { headings, start: at, end: at };
      current.headings = headings;
      current.end = pieceEnd;
      if (marks === '' && line.trim() !== '') hasText = true;
    }
    start = end;
  }
  close();
  return passages;
}

/**
 * Records the passages of a page for citations. Returns its text with the number of each passage before it, such as `[3]`, by which the
 * model cites it.
 */
export function numberPassages({ url, title, text, offset }: PageText, cite: (sources: readonly CitableSource[]) => number[]): string {
  const passages = splitPassages(text).map((passage) => ({ ...passage, text: text.slice(passage.start, passage.end).trim() }));
  const numbers = cite(
    passages.map(({ headings, start, end, text: passage }): CitableSource => ({
      id: `${url}#${offset + start}`,
      kind: 'web',
      title,
      url,
      text: passage,
      locator: { ...(headings.length > 0 ? { headings } : {}), start: offset + start, end: offset + end },
    })),
  );
  return passages
    .map(({ text: passage }, index) => `[${numbers[index]}]${/^[\p{L}\p{N}]/u.test(passage) ? ' ' : '\n'}${passage}`)
    .join('\n\n');
}
