import { type XmlElement, getChildren, getText } from './xml-tree.ts';

/** The paragraphs of a DrawingML text body (`a:p`; ECMA-376 part 1, section 21.1.2). Lower levels are indented as lists. */
export function formatParagraphs(body: XmlElement | undefined): string[] {
  return getChildren(body, 'a:p').map((paragraph) => {
    const level = Math.min(8, Number(getChildren(paragraph, 'a:pPr')[0]?.attributes['lvl'] ?? 0) || 0);
    const text = getChildren(paragraph)
      .map((piece) => (piece.name === 'a:br' ? '\n' : getChildren(piece, 'a:t').map(getText).join('')))
      .join('');
    return level > 0 && text.trim() !== '' ? `${'  '.repeat(level - 1)}- ${text}` : text;
  });
}

/** The same in one line, without levels. */
export const formatLine = (body: XmlElement | undefined): string =>
  getChildren(body, 'a:p')
    .flatMap((paragraph) => getChildren(paragraph).flatMap((piece) => getChildren(piece, 'a:t').map(getText).join('')))
    .join(' ');
