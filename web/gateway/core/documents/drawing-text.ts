import { type Element, elements, textIn } from './xml-tree.ts';

/** The paragraphs of a DrawingML text body (`a:p`; ECMA-376 part 1, section 21.1.2). Lower levels are indented as lists. */
export function paragraphs(body: Element | undefined): string[] {
  return elements(body, 'a:p').map((paragraph) => {
    const level = Math.min(8, Number(elements(paragraph, 'a:pPr')[0]?.attributes['lvl'] ?? 0) || 0);
    const text = elements(paragraph)
      .map((piece) => (piece.name === 'a:br' ? '\n' : elements(piece, 'a:t').map(textIn).join('')))
      .join('');
    return level > 0 && text.trim() !== '' ? `${'  '.repeat(level - 1)}- ${text}` : text;
  });
}

/** The same in one line, without levels. */
export const lineOf = (body: Element | undefined): string =>
  elements(body, 'a:p')
    .flatMap((paragraph) => elements(paragraph).flatMap((piece) => elements(piece, 'a:t').map(textIn).join('')))
    .join(' ');
