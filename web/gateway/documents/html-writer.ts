import type { Handler } from 'htmlparser2';
import { toMarkdownTable, toPlainTable } from './markdown-table.ts';

/** A growing text with quick access to its end: inspecting a long string after each append would copy it each time. */
class StringBuilder {
  readonly #chunks: string[] = [];
  /** The last two characters. */
  tail = '';

  append(text: string): void {
    if (text === '') return;
    this.#chunks.push(text);
    this.tail = (this.tail + text).slice(-2);
  }

  toString(): string {
    return this.#chunks.join('');
  }
}

/** Elements without text of interest to a reader. */
const SKIPPED_ELEMENTS = new Set(
  'script style noscript template svg math iframe object embed canvas audio video select datalist button nav footer aside dialog head title'.split(
    ' ',
  ),
);
const SKIPPED_ROLES = new Set(['navigation', 'banner', 'contentinfo', 'search', 'dialog', 'menu']);
const BLOCK_ELEMENTS = new Set(
  'address article blockquote body caption center dd details div dl dt fieldset figcaption figure form h1 h2 h3 h4 h5 h6 header hr html li main ol p pre section summary table tbody td tfoot th thead tr ul'.split(
    ' ',
  ),
);
/** Elements whose text is formatted when they end. */
const FORMATTED_ELEMENTS = new Set('a li blockquote pre code h1 h2 h3 h4 h5 h6 table tr td th'.split(' '));
/** Maximum nesting of formatted elements; deeper ones are plain text. */
const MAX_DEPTH = 60;

/** Maximum nesting of any elements: parsing time grows with the square of it. */
const MAX_OPEN_ELEMENTS = 1000;

/** Thrown for a page with excessively nested elements. */
export class NestingError extends Error {}

/** An open element whose text will be formatted. */
interface Frame {
  name: string;
  text: StringBuilder;
  href?: string;
  /** List item: its marker. */
  mark?: string;
  rows: string[][];
  cells: string[];
}

interface OpenElement {
  name: string;
  hasFrame: boolean;
  isMain: boolean;
  isSkipped: boolean;
  /** `ol`: number of the next item. */
  next?: number;
}

/** Converts parser events of a page to Markdown; memory and time are linear in the page's length. */
export class HtmlWriter implements Partial<Handler> {
  readonly #base: string | undefined;
  readonly #open: OpenElement[] = [];
  readonly #frames: Frame[] = [createFrame('page')];
  #skipDepth = 0;
  #preDepth = 0;
  #mainDepth = 0;
  readonly #mainText = new StringBuilder();
  #title = '';
  #inTitle = false;

  constructor(base: string | undefined) {
    this.#base = base;
  }

  getResult(): { title: string; main: string; all: string } {
    return {
      title: this.#title.replace(/\s+/g, ' ').trim().slice(0, 500),
      main: trimLines(String(this.#mainText)),
      all: trimLines(String(this.#frames[0]?.text ?? '')),
    };
  }

  onopentag(name: string, attributes: Record<string, string>): void {
    if (name === 'title' && this.#title === '' && !this.#open.some((open) => open.name === 'svg')) this.#inTitle = true;
    const isSkipped = SKIPPED_ELEMENTS.has(name) || isHidden(attributes);
    const openElement: OpenElement = { name, hasFrame: false, isMain: false, isSkipped };
    if (this.#open.push(openElement) > MAX_OPEN_ELEMENTS) throw new NestingError();
    if (isSkipped) this.#skipDepth++;
    if (this.#skipDepth > 0) return;
    if (name === 'br') return this.#add('\n');
    if (name === 'hr') return this.#addBlock('---');
    if (name === 'img' && attributes['alt']?.trim()) return this.#write(`[Picture: ${attributes['alt'].trim()}]`);
    if (BLOCK_ELEMENTS.has(name)) this.#startLine();
    if (name === 'ol') openElement.next = Number(attributes['start'] ?? 1) || 1;
    if (name === 'pre') this.#preDepth++;
    const main = name === 'main' || name === 'article' || attributes['role'] === 'main';
    const startsMain = main && this.#mainDepth === 0 && this.#frames.length === 1;
    if (main && (startsMain || this.#mainDepth > 0)) {
      openElement.isMain = true;
      this.#mainDepth++;
    }
    if (startsMain || (FORMATTED_ELEMENTS.has(name) && this.#frames.length < MAX_DEPTH)) {
      openElement.hasFrame = true;
      this.#frames.push({ ...createFrame(name), ...this.#readFrameOptions(name, attributes) });
    }
  }

  ontext(text: string): void {
    if (this.#inTitle) this.#title += text;
    if (this.#skipDepth === 0) this.#write(this.#preDepth > 0 ? text : text.replace(/[\s\u200b]+/g, ' '));
  }

  onclosetag(name: string): void {
    if (name === 'title') this.#inTitle = false;
    const openElement = this.#open.pop();
    if (!openElement) return;
    if (openElement.isSkipped) {
      this.#skipDepth--;
      return;
    }
    if (this.#skipDepth > 0) return;
    if (openElement.isMain) this.#mainDepth--;
    if (openElement.hasFrame) {
      const closedFrame = this.#frames.pop();
      if (closedFrame) this.#closeFrame(closedFrame, openElement.isMain);
    }
    if (name === 'pre') this.#preDepth--;
    if (name === 'p' || name === 'ul' || name === 'ol' || name === 'dl' || name === 'figure') this.#startParagraph();
    else if (BLOCK_ELEMENTS.has(name)) this.#startLine();
  }

  #readFrameOptions(name: string, attributes: Record<string, string>): Partial<Frame> {
    if (name === 'a') {
      const href = this.#resolveHref(attributes['href']);
      return href === undefined ? {} : { href };
    }
    if (name !== 'li') return {};
    const list = this.#open.findLast((open) => open.name === 'ol' || open.name === 'ul');
    return { mark: list?.next === undefined ? '-' : `${list.next++}.` };
  }

  #resolveHref(href: string | undefined): string | undefined {
    if (href === undefined || href.startsWith('#')) return undefined;
    const url = URL.parse(href, this.#base);
    return url && /^(https?|mailto):$/.test(url.protocol) ? url.href : undefined;
  }

  #closeFrame({ name, text: pieces, href, mark, rows, cells }: Frame, main: boolean): void {
    const text = String(pieces);
    const inner = text.trim();
    if (main && this.#frames.length === 1) this.#mainText.append(`${inner}\n\n`);
    const parent = this.#frames.at(-1);
    switch (name) {
      case 'a':
        return this.#write(href === undefined || inner === '' ? text : `[${inner.replace(/\s+/g, ' ')}](${href})`);
      case 'code':
        return this.#write(this.#preDepth > 0 || inner === '' ? text : `\`${inner}\``);
      case 'pre':
        return this.#addBlock(`\`\`\`\n${text.replace(/^\n/, '').trimEnd()}\n\`\`\``);
      case 'blockquote':
        return this.#addBlock(trimLines(inner).replace(/^/gm, '> '));
      case 'li':
        if (inner !== '') this.#add(`${mark} ${trimLines(inner).replaceAll('\n', '\n  ')}\n`);
        return;
      case 'td':
      case 'th':
        if (parent?.name === 'tr') parent.cells.push(trimLines(inner));
        else this.#add(`${inner}\t`);
        return;
      case 'tr':
        if (parent?.name === 'table') parent.rows.push(cells);
        else this.#add(cells.join('\t'));
        return;
      case 'table':
        return this.#addBlock(`${inner === '' ? '' : `${inner}\n\n`}${formatTable(rows, this.#inCell)}`);
      default: {
        const [, level] = /^h([1-6])$/.exec(name) ?? [];
        return this.#addBlock(
          level === undefined ? inner : inner === '' ? '' : `${'#'.repeat(Number(level))} ${inner.replace(/\s+/g, ' ')}`,
        );
      }
    }
  }

  get #inCell(): boolean {
    return this.#frames.some(({ name }) => name === 'td' || name === 'th');
  }

  /** Writes inline text: no space at the start of a line, and no two in a row. */
  #write(text: string): void {
    const target = this.#frames.at(-1);
    if (!target || ((target.name === 'table' || target.name === 'tr') && text.trim() === '')) return;
    target.text.append(this.#preDepth === 0 && /^ /.test(text) && /(^|\s)$/.test(target.text.tail) ? text.slice(1) : text);
  }

  #add(text: string): void {
    this.#frames.at(-1)?.text.append(text);
  }

  #startLine(): void {
    const target = this.#frames.at(-1)?.text;
    if (target && !/(^|\n)$/.test(target.tail)) target.append('\n');
  }

  #startParagraph(): void {
    this.#startLine();
    const target = this.#frames.at(-1)?.text;
    if (target && !/(^|\n\n)$/.test(target.tail)) target.append('\n');
  }

  #addBlock(text: string): void {
    if (text === '') return;
    this.#startParagraph();
    this.#add(`${text}\n\n`);
  }
}

const createFrame = (name: string): Frame => ({ name, text: new StringBuilder(), rows: [], cells: [] });

const isHidden = (attributes: Record<string, string>): boolean =>
  attributes['hidden'] !== undefined ||
  attributes['aria-hidden'] === 'true' ||
  SKIPPED_ROLES.has(attributes['role'] ?? '') ||
  /display\s*:\s*none|visibility\s*:\s*hidden/i.test(attributes['style'] ?? '');

/** Tables with one column or one row are layout. */
function formatTable(rows: readonly string[][], inCell: boolean): string {
  const filled = rows.filter((cells) => cells.some((cell) => cell !== ''));
  if (filled.length > 1 && filled.some((cells) => cells.length > 1)) return inCell ? toPlainTable(filled) : toMarkdownTable(filled);
  return filled.map((cells) => cells.filter((cell) => cell !== '').join('\n')).join('\n\n');
}

/**
 * Removes trailing spaces and multiple empty lines. Works line by line, since a regular expression takes time that grows with the square of
 * the spaces.
 */
const trimLines = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.slice(0, findLineEnd(line)))
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();

/** Index after the last character of a line that is not a space or tab. */
function findLineEnd(line: string): number {
  let end = line.length;
  while (end > 0 && (line[end - 1] === ' ' || line[end - 1] === '\t')) end--;
  return end;
}
