import { Lexer, type Token, type Tokens } from 'marked';
import { reader } from '#lib/markdown/reader.ts';

const LEXING = reader().defaults;
/** Voices of the network go silent in the middle of longer texts. UTF-16 units. */
const MOST_CHARS = 300;

/** A Markdown text as it is said, in pieces of a sentence or several: without mark-up, code, formulas and addresses. */
export function spokenPieces(markdown: string): string[] {
  return blocksOf(new Lexer(LEXING).lex(markdown)).flatMap((block) => cut(block.replace(/\s+/g, ' ').trim()));
}

function blocksOf(tokens: readonly Token[]): string[] {
  return tokens.flatMap((token): string[] => {
    switch (token.type) {
      case 'list':
        return (token as Tokens.List).items.flatMap((item) => blocksOf(item.tokens));
      case 'table': {
        const { header, rows } = token as Tokens.Table;
        return [header, ...rows].map((cells) => cells.map((cell) => words(cell.tokens)).join(', '));
      }
      case 'blockquote':
        return blocksOf(token.tokens ?? []);
      case 'code':
      case 'hr':
      case 'def':
      case 'space':
      case 'mathBlock':
        return [];
      default:
        return [words([token])];
    }
  });
}

function words(tokens: readonly Token[]): string {
  return tokens
    .map((token): string => {
      if (token.type === 'br') return ' ';
      if (token.type === 'math' || token.type === 'html') return '';
      if (token.type === 'image') return (token as Tokens.Image).text;
      if ('tokens' in token && token.tokens) return words(token.tokens);
      return 'text' in token && typeof token.text === 'string' ? token.text : '';
    })
    .join('');
}

function cut(text: string): string[] {
  if (!/[\p{L}\p{N}]/u.test(text)) return [];
  if (text.length <= MOST_CHARS) return [text];
  const pieces: string[] = [];
  let piece = '';
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: 'sentence' }).segment(text)) {
    for (const part of segment.match(new RegExp(`[^]{1,${MOST_CHARS}}(?=\\s|$)|[^]{1,${MOST_CHARS}}`, 'g')) ?? []) {
      if (piece && piece.length + part.length > MOST_CHARS) {
        pieces.push(piece.trim());
        piece = '';
      }
      piece += part;
    }
  }
  return [...pieces, piece.trim()].filter(Boolean);
}
