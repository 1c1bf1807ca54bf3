import { Lexer, type Token, type Tokens } from 'marked';
import { BARE, reader } from '#lib/markdown/reader.ts';

const LEXING = reader().defaults;
/** Voices of the network go silent in the middle of longer texts. UTF-16 units. */
const MOST_CHARS = 300;

/** Converts Markdown to speech, in pieces of one or more sentences: without mark-up, code, formulas and addresses. */
export function spokenPieces(markdown: string): string[] {
  return blocksOf(new Lexer(LEXING).lex(markdown), false).flatMap((block) => cut(block.replace(/\s+/g, ' ').trim()));
}

/** Converts Markdown to text for screen readers: without mark-up and addresses, with code and formulas as written. */
export function readable(markdown: string): string {
  return blocksOf(new Lexer(LEXING).lex(markdown), true).join('\n');
}

function blocksOf(tokens: readonly Token[], withCode: boolean): string[] {
  return tokens.flatMap((token): string[] => {
    switch (token.type) {
      case 'list':
        return (token as Tokens.List).items.flatMap((item) => blocksOf(item.tokens, withCode));
      case 'table': {
        const { header, rows } = token as Tokens.Table;
        return [header, ...rows].map((cells) => cells.map((cell) => words(cell.tokens, withCode)).join(', '));
      }
      case 'blockquote':
        return blocksOf(token.tokens ?? [], withCode);
      case 'code':
        return withCode ? [(token as Tokens.Code).text] : [];
      case 'mathBlock':
        return withCode ? [token.raw.trim()] : [];
      case 'hr':
      case 'def':
      case 'space':
        return [];
      default:
        return [words([token], withCode)];
    }
  });
}

function words(tokens: readonly Token[], withCode: boolean): string {
  return tokens
    .map((token): string => {
      if (token.type === 'br') return ' ';
      if (token.type === 'math') return withCode ? token.raw : '';
      if (token.type === 'html') return withCode ? withoutTags(token as Tokens.HTML) : '';
      if (token.type === 'image') return (token as Tokens.Image).text;
      if ('tokens' in token && token.tokens) return words(token.tokens, withCode);
      return 'text' in token && typeof token.text === 'string' ? token.text : '';
    })
    .join('');
}

/** HTML that is not mark-up of a reply is displayed as text. */
const withoutTags = ({ text, block }: Tokens.HTML): string =>
  text
    .replace(/<!--[^]*?-->/g, '')
    .replace(/<\/?([a-z][a-z0-9]*)(?:\s[^<>]*)?\/?>/gi, (tag, name: string) => (BARE.has(name.toLowerCase()) ? (block ? ' ' : '') : tag));

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
