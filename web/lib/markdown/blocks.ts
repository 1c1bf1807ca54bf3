import { Lexer, type Token } from 'marked';
import { fenceOf } from './fence.ts';
import { type Footnote, isFootnote, numberFootnotes } from './footnotes.ts';
import { isLargeTable, reader } from './reader.ts';

/** A part of a Markdown text that is rendered by itself. The same object comes back as long as its source is the same. */
export type Block = CodeText | MarkdownText | { kind: 'footnotes'; notes: readonly Footnote[] };

/** `labels`: of the whole text's footnotes, by their numbers, if it refers to any. */
export interface MarkdownText {
  kind: 'markdown';
  source: string;
  labels?: readonly string[];
}

/** `name`: what its first line calls it. */
export interface CodeText {
  kind: 'code';
  language: string;
  name?: string;
  code: string;
}

const LEXING = reader().defaults;

/** What comes after so many blocks is one block, as it is written: each takes a page some milliseconds. */
const MOST_BLOCKS = 1_000;

/** A block of more lines, as a list without end, is shown as it is written: each line may be an element or more, and a block is laid out in one go. */
const MOST_LINES = 3_000;

/** Code in a line has a backtick or two around it. From each longer run that is alone the whole text is looked through for its other end. */
const LONG_TICKS = /`{100}/;

/**
 * Cuts a growing Markdown text into blocks. Only the last one can still change while text is added, so each `update` reads that one
 * and what is new, not the whole text.
 */
export class Blocks {
  #settled: Token[] = [];
  #settledChars = 0;
  #seen = '';
  #blocks: Block[] = [];

  /** The blocks of a text. Where it does not begin with the text of the last call everything is read anew. */
  update(written: string): Block[] {
    // As the parser of the whole does, which is passed by here.
    const text = written.replace(/\r\n?/g, '\n');
    if (text === this.#seen) return this.#blocks;
    if (!text.startsWith(this.#seen)) {
      this.#settled = [];
      this.#settledChars = 0;
    }
    this.#seen = text;
    const tokens = new Lexer(LEXING).blockTokens(text.slice(this.#settledChars));
    // A token may go on until another begins after it; empty lines do not yet end a list.
    const open = Math.max(
      0,
      tokens.findLastIndex((token) => token.type !== 'space'),
    );
    for (const token of tokens.slice(0, open)) {
      this.#settledChars += token.raw.length;
      this.#settled.push(token);
    }
    this.#blocks = this.#blocksOf([...this.#settled, ...tokens.slice(open)]);
    return this.#blocks;
  }

  #blocksOf(tokens: readonly Token[]): Block[] {
    // Links by reference need their definitions, which may stand in any block.
    const definitions = tokens.flatMap((token) => (token.type === 'def' ? [token.raw.trimEnd()] : [])).join('\n');
    const notes = numberFootnotes(tokens);
    const labels = notes.map(({ label }) => label);
    const blocks: Block[] = [];
    for (const [index, token] of tokens.entries()) {
      if (token.type === 'space' || token.type === 'def' || isFootnote(token)) continue;
      if (blocks.length === MOST_BLOCKS) {
        const rest = tokens.slice(index).map(({ raw }) => raw);
        return [...blocks, { kind: 'code', language: '', code: rest.join('').trimEnd() }];
      }
      const before = this.#blocks[blocks.length];
      const isCode = token.type === 'code' || (token.type === 'table' ? isLargeTable(token) : isLong(token) || LONG_TICKS.test(token.raw));
      blocks.push(isCode ? codeOf(token, before) : markdownOf(token.raw, { definitions, labels }, before));
    }
    return notes.length === 0 ? blocks : [...blocks, footnotesOf(notes, this.#blocks.at(-1))];
  }
}

function isLong({ raw }: Token): boolean {
  let at = -1;
  for (let line = 0; line < MOST_LINES; line++) {
    at = raw.indexOf('\n', at + 1);
    if (at === -1) return false;
  }
  return at < raw.trimEnd().length;
}

function codeOf(token: Token, before: Block | undefined): Block {
  const code: string = token.type === 'code' ? token.text : token.raw.trimEnd();
  const fence = fenceOf(token.type === 'code' ? (token.lang ?? '') : '');
  const same = before?.kind === 'code' && before.code === code && before.language === fence.language && before.name === fence.name;
  return same ? before : { kind: 'code', ...fence, code };
}

interface Context {
  definitions: string;
  labels: readonly string[];
}

function markdownOf(raw: string, { definitions, labels }: Context, before: Block | undefined): MarkdownText {
  const source = definitions !== '' && raw.includes('[') ? `${raw}\n\n${definitions}` : raw;
  const referred = labels.length > 0 && raw.includes('[^') ? { labels } : {};
  const same = before?.kind === 'markdown' && before.source === source && isEqual(before.labels, referred.labels);
  return same ? before : { kind: 'markdown', source, ...referred };
}

function footnotesOf(notes: readonly Footnote[], before: Block | undefined): Block {
  const same =
    before?.kind === 'footnotes' &&
    before.notes.length === notes.length &&
    before.notes.every(({ label, source }, index) => label === notes[index]?.label && source === notes[index]?.source);
  return same ? before : { kind: 'footnotes', notes };
}

const isEqual = (a: readonly string[] = [], b: readonly string[] = []): boolean => a.join('\n') === b.join('\n');
