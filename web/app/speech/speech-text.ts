import { Lexer, type Token, type Tokens } from 'marked';
import { BARE_HTML, markdownParser } from '../markdown/markdown-parser.ts';

const LEXER_OPTIONS = markdownParser().defaults;
/** Maximum length of a piece in UTF-16 units: network voices stop in the middle of longer texts. */
const MAX_CHARS = 300;

/** Converts Markdown to speech, in pieces of one or more sentences: without mark-up, code, formulas and addresses. */
export function toSpeechPieces(markdown: string): string[] {
  return toTextBlocks(new Lexer(LEXER_OPTIONS).lex(markdown), false).flatMap((block) => splitAtLimit(block.replace(/\s+/g, ' ').trim()));
}

/** Converts Markdown to text for screen readers: without mark-up and addresses, with code and formulas as written. */
export function toReadableText(markdown: string): string {
  return toTextBlocks(new Lexer(LEXER_OPTIONS).lex(markdown), true).join('\n');
}

function toTextBlocks(tokens: readonly Token[], withCode: boolean): string[] {
  return tokens.flatMap((token): string[] => {
    switch (token.type) {
      case 'list':
        return (token as Tokens.List).items.flatMap((item) => toTextBlocks(item.tokens, withCode));
      case 'table': {
        const { header, rows } = token as Tokens.Table;
        return [header, ...rows].map((cells) => cells.map((cell) => toInlineText(cell.tokens, withCode)).join(', '));
      }
      case 'blockquote':
        return toTextBlocks(token.tokens ?? [], withCode);
      case 'code':
        return withCode ? [(token as Tokens.Code).text] : [];
      case 'mathBlock':
        return withCode ? [token.raw.trim()] : [];
      case 'hr':
      case 'def':
      case 'space':
        return [];
      default:
        return [toInlineText([token], withCode)];
    }
  });
}

function toInlineText(tokens: readonly Token[], withCode: boolean): string {
  return tokens
    .map((token): string => {
      if (token.type === 'br') return ' ';
      if (token.type === 'math') return withCode ? token.raw : '';
      if (token.type === 'html') return withCode ? stripTags(token as Tokens.HTML) : '';
      if (token.type === 'image') return (token as Tokens.Image).text;
      if ('tokens' in token && token.tokens) return toInlineText(token.tokens, withCode);
      return 'text' in token && typeof token.text === 'string' ? token.text : '';
    })
    .join('');
}

/** HTML that is not mark-up of a reply is displayed as text. */
const stripTags = ({ text, block }: Tokens.HTML): string =>
  text
    .replace(/<!--[^]*?-->/g, '')
    .replace(/<\/?([a-z][a-z0-9]*)(?:\s[^<>]*)?\/?>/gi, (tag, name: string) =>
      BARE_HTML.has(name.toLowerCase()) ? (block ? ' ' : '') : tag,
    );

function splitAtLimit(text: string): string[] {
  if (!/[\p{L}\p{N}]/u.test(text)) return [];
  if (text.length <= MAX_CHARS) return [text];
  const pieces: string[] = [];
  let piece = '';
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: 'sentence' }).segment(text)) {
    for (const part of segment.match(new RegExp(`[^]{1,${MAX_CHARS}}(?=\\s|$)|[^]{1,${MAX_CHARS}}`, 'g')) ?? []) {
      if (piece && piece.length + part.length > MAX_CHARS) {
        pieces.push(piece.trim());
        piece = '';
      }
      piece += part;
    }
  }
  return [...pieces, piece.trim()].filter(Boolean);
}
