import { Lexer, type Token } from 'marked';
import { parseFence } from './parse-fence.ts';
import { type Footnote, isFootnote, numberFootnotes } from './footnotes.ts';
import { isLargeTable, markdownParser } from './markdown-parser.ts';

/** A part of a Markdown text that is rendered independently. The same object is returned while its source is unchanged. */
export type MarkdownBlock = CodeText | MarkdownText | { kind: 'footnotes'; notes: readonly Footnote[] };

/** `labels`: labels of the text's footnotes by number, if the block refers to any. */
interface MarkdownText {
  kind: 'markdown';
  source: string;
  labels?: readonly string[];
}

/** `name`: title from its opening line. */
export interface CodeText {
  kind: 'code';
  language: string;
  name?: string;
  code: string;
}

const LEXER_OPTIONS = markdownParser().defaults;

/** Maximum number of blocks, each of which takes some milliseconds to render. The rest becomes one block of plain text. */
const MAX_BLOCKS = 1_000;

/** Maximum lines of a block; longer ones, such as endless lists, are shown as source, as a block is laid out at once. */
const MAX_LINES = 3_000;

/** A run of backticks for which, unmatched, the whole text would be searched; inline code has one or two. */
const LONG_TICKS = /`{100}/;

/**
 * Splits a growing Markdown text into blocks. Only the last one can still change while text is added, so each `update` reads only that one
 * and the new text.
 */
export class MarkdownBlockSplitter {
  #settled: Token[] = [];
  #settledChars = 0;
  #lastSource = '';
  #blocks: MarkdownBlock[] = [];

  /** The blocks of a text. If it does not start with the text of the last call, everything is parsed again. */
  update(markdown: string): MarkdownBlock[] {
    // As the parser of a complete text does, which is bypassed here.
    const text = markdown.replace(/\r\n?/g, '\n');
    if (text === this.#lastSource) return this.#blocks;
    if (!text.startsWith(this.#lastSource)) {
      this.#settled = [];
      this.#settledChars = 0;
    }
    this.#lastSource = text;
    const tokens = new Lexer(LEXER_OPTIONS).blockTokens(text.slice(this.#settledChars));
    // A token may go on until another begins after it; empty lines do not yet end a list.
    const openIndex = Math.max(
      0,
      tokens.findLastIndex((token) => token.type !== 'space'),
    );
    for (const token of tokens.slice(0, openIndex)) {
      this.#settledChars += token.raw.length;
      this.#settled.push(token);
    }
    this.#blocks = this.#toBlocks([...this.#settled, ...tokens.slice(openIndex)]);
    return this.#blocks;
  }

  #toBlocks(tokens: readonly Token[]): MarkdownBlock[] {
    // Reference links need their definitions, which may be in any block.
    const definitions = tokens.flatMap((token) => (token.type === 'def' ? [token.raw.trimEnd()] : [])).join('\n');
    const notes = numberFootnotes(tokens);
    const labels = notes.map(({ label }) => label);
    const blocks: MarkdownBlock[] = [];
    for (const [index, token] of tokens.entries()) {
      if (token.type === 'space' || token.type === 'def' || isFootnote(token)) continue;
      if (blocks.length === MAX_BLOCKS) {
        const remaining = tokens.slice(index).map(({ raw }) => raw);
        return [...blocks, { kind: 'code', language: '', code: remaining.join('').trimEnd() }];
      }
      const before = this.#blocks[blocks.length];
      const isCode = token.type === 'code' || (token.type === 'table' ? isLargeTable(token) : isLong(token) || LONG_TICKS.test(token.raw));
      blocks.push(isCode ? toCodeBlock(token, before) : toMarkdownBlock(token.raw, { definitions, labels }, before));
    }
    return notes.length === 0 ? blocks : [...blocks, toFootnotesBlock(notes, this.#blocks.at(-1))];
  }
}

function isLong({ raw }: Token): boolean {
  let at = -1;
  for (let line = 0; line < MAX_LINES; line++) {
    at = raw.indexOf('\n', at + 1);
    if (at === -1) return false;
  }
  return at < raw.trimEnd().length;
}

function toCodeBlock(token: Token, before: MarkdownBlock | undefined): MarkdownBlock {
  const code: string = token.type === 'code' ? token.text : token.raw.trimEnd();
  const fence = parseFence(token.type === 'code' ? (token.lang ?? '') : '');
  const same = before?.kind === 'code' && before.code === code && before.language === fence.language && before.name === fence.name;
  return same ? before : { kind: 'code', ...fence, code };
}

interface BlockContext {
  definitions: string;
  labels: readonly string[];
}

function toMarkdownBlock(raw: string, { definitions, labels }: BlockContext, before: MarkdownBlock | undefined): MarkdownText {
  const source = definitions !== '' && raw.includes('[') ? `${raw}\n\n${definitions}` : raw;
  const referred = labels.length > 0 && raw.includes('[^') ? { labels } : {};
  const same = before?.kind === 'markdown' && before.source === source && isEqual(before.labels, referred.labels);
  return same ? before : { kind: 'markdown', source, ...referred };
}

function toFootnotesBlock(notes: readonly Footnote[], before: MarkdownBlock | undefined): MarkdownBlock {
  const same =
    before?.kind === 'footnotes' &&
    before.notes.length === notes.length &&
    before.notes.every(({ label, source }, index) => label === notes[index]?.label && source === notes[index]?.source);
  return same ? before : { kind: 'footnotes', notes };
}

const isEqual = (a: readonly string[] = [], b: readonly string[] = []): boolean => a.join('\n') === b.join('\n');
