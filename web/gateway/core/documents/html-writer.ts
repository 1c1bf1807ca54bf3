import type { Handler } from 'htmlparser2';
import { Pieces } from './pieces.ts';
import { markdownTable, plainTable } from './table.ts';

/** Elements without text of interest to a reader. */
const LEFT_OUT = new Set(
  'script style noscript template svg math iframe object embed canvas audio video select datalist button nav footer aside dialog head title'.split(
    ' ',
  ),
);
const LEFT_OUT_ROLES = new Set(['navigation', 'banner', 'contentinfo', 'search', 'dialog', 'menu']);
const BLOCKS = new Set(
  'address article blockquote body caption center dd details div dl dt fieldset figcaption figure form h1 h2 h3 h4 h5 h6 header hr html li main ol p pre section summary table tbody td tfoot th thead tr ul'.split(
    ' ',
  ),
);
/** Elements whose text is formatted when they end. */
const FORMED = new Set('a li blockquote pre code h1 h2 h3 h4 h5 h6 table tr td th'.split(' '));
/** Maximum nesting of formatted elements; deeper ones are plain text. */
const MAX_DEPTH = 60;

/** Maximum nesting of any elements: parsing time grows with the square of it. */
const MAX_OPEN = 1000;

/** Thrown for a page with excessively nested elements. */
export class TooDeep extends Error {}

/** An open element whose text will be formatted. */
interface Frame {
  name: string;
  text: Pieces;
  href?: string;
  /** List item: its marker. */
  mark?: string;
  rows: string[][];
  cells: string[];
}

interface Open {
  name: string;
  frame: boolean;
  main: boolean;
  left: boolean;
  /** `ol`: number of the next item. */
  next?: number;
}

/** Converts parser events of a page to Markdown; memory and time are linear in the page's length. */
export class HtmlWriter implements Partial<Handler> {
  readonly #base: string | undefined;
  readonly #open: Open[] = [];
  readonly #frames: Frame[] = [frame('page')];
  #leftOut = 0;
  #pre = 0;
  #main = 0;
  readonly #mainText = new Pieces();
  #title = '';
  #inTitle = false;

  constructor(base: string | undefined) {
    this.#base = base;
  }

  result(): { title: string; main: string; all: string } {
    return {
      title: this.#title.replace(/\s+/g, ' ').trim().slice(0, 500),
      main: tidy(String(this.#mainText)),
      all: tidy(String(this.#frames[0]?.text ?? '')),
    };
  }

  onopentag(name: string, attributes: Record<string, string>): void {
    if (name === 'title' && this.#title === '' && !this.#open.some((open) => open.name === 'svg')) this.#inTitle = true;
    const left = LEFT_OUT.has(name) || isHidden(attributes);
    const opened: Open = { name, frame: false, main: false, left };
    if (this.#open.push(opened) > MAX_OPEN) throw new TooDeep();
    if (left) this.#leftOut++;
    if (this.#leftOut > 0) return;
    if (name === 'br') return this.#add('\n');
    if (name === 'hr') return this.#block('---');
    if (name === 'img' && attributes['alt']?.trim()) return this.#write(`[Picture: ${attributes['alt'].trim()}]`);
    if (BLOCKS.has(name)) this.#line();
    if (name === 'ol') opened.next = Number(attributes['start'] ?? 1) || 1;
    if (name === 'pre') this.#pre++;
    const main = name === 'main' || name === 'article' || attributes['role'] === 'main';
    const begins = main && this.#main === 0 && this.#frames.length === 1;
    if (main && (begins || this.#main > 0)) {
      opened.main = true;
      this.#main++;
    }
    if (begins || (FORMED.has(name) && this.#frames.length < MAX_DEPTH)) {
      opened.frame = true;
      this.#frames.push({ ...frame(name), ...this.#given(name, attributes) });
    }
  }

  ontext(text: string): void {
    if (this.#inTitle) this.#title += text;
    if (this.#leftOut === 0) this.#write(this.#pre > 0 ? text : text.replace(/[\s\u200b]+/g, ' '));
  }

  onclosetag(name: string): void {
    if (name === 'title') this.#inTitle = false;
    const opened = this.#open.pop();
    if (!opened) return;
    if (opened.left) {
      this.#leftOut--;
      return;
    }
    if (this.#leftOut > 0) return;
    if (opened.main) this.#main--;
    if (opened.frame) {
      const ended = this.#frames.pop();
      if (ended) this.#form(ended, opened.main);
    }
    if (name === 'pre') this.#pre--;
    if (name === 'p' || name === 'ul' || name === 'ol' || name === 'dl' || name === 'figure') this.#paragraph();
    else if (BLOCKS.has(name)) this.#line();
  }

  #given(name: string, attributes: Record<string, string>): Partial<Frame> {
    if (name === 'a') {
      const href = this.#address(attributes['href']);
      return href === undefined ? {} : { href };
    }
    if (name !== 'li') return {};
    const list = this.#open.findLast((open) => open.name === 'ol' || open.name === 'ul');
    return { mark: list?.next === undefined ? '-' : `${list.next++}.` };
  }

  #address(href: string | undefined): string | undefined {
    if (href === undefined || href.startsWith('#')) return undefined;
    const url = URL.parse(href, this.#base);
    return url && /^(https?|mailto):$/.test(url.protocol) ? url.href : undefined;
  }

  #form({ name, text: pieces, href, mark, rows, cells }: Frame, main: boolean): void {
    const text = String(pieces);
    const inner = text.trim();
    if (main && this.#frames.length === 1) this.#mainText.add(`${inner}\n\n`);
    const parent = this.#frames.at(-1);
    switch (name) {
      case 'a':
        return this.#write(href === undefined || inner === '' ? text : `[${inner.replace(/\s+/g, ' ')}](${href})`);
      case 'code':
        return this.#write(this.#pre > 0 || inner === '' ? text : `\`${inner}\``);
      case 'pre':
        return this.#block(`\`\`\`\n${text.replace(/^\n/, '').trimEnd()}\n\`\`\``);
      case 'blockquote':
        return this.#block(tidy(inner).replace(/^/gm, '> '));
      case 'li':
        if (inner !== '') this.#add(`${mark} ${tidy(inner).replaceAll('\n', '\n  ')}\n`);
        return;
      case 'td':
      case 'th':
        if (parent?.name === 'tr') parent.cells.push(tidy(inner));
        else this.#add(`${inner}\t`);
        return;
      case 'tr':
        if (parent?.name === 'table') parent.rows.push(cells);
        else this.#add(cells.join('\t'));
        return;
      case 'table':
        return this.#block(`${inner === '' ? '' : `${inner}\n\n`}${tableText(rows, this.#inCell)}`);
      default: {
        const [, level] = /^h([1-6])$/.exec(name) ?? [];
        return this.#block(level === undefined ? inner : inner === '' ? '' : `${'#'.repeat(Number(level))} ${inner.replace(/\s+/g, ' ')}`);
      }
    }
  }

  get #inCell(): boolean {
    return this.#frames.some(({ name }) => name === 'td' || name === 'th');
  }

  /** Writes inline text: no space at the start of a line, and no two in a row. */
  #write(text: string): void {
    const to = this.#frames.at(-1);
    if (!to || ((to.name === 'table' || to.name === 'tr') && text.trim() === '')) return;
    to.text.add(this.#pre === 0 && /^ /.test(text) && /(^|\s)$/.test(to.text.tail) ? text.slice(1) : text);
  }

  #add(text: string): void {
    this.#frames.at(-1)?.text.add(text);
  }

  #line(): void {
    const to = this.#frames.at(-1)?.text;
    if (to && !/(^|\n)$/.test(to.tail)) to.add('\n');
  }

  #paragraph(): void {
    this.#line();
    const to = this.#frames.at(-1)?.text;
    if (to && !/(^|\n\n)$/.test(to.tail)) to.add('\n');
  }

  #block(text: string): void {
    if (text === '') return;
    this.#paragraph();
    this.#add(`${text}\n\n`);
  }
}

const frame = (name: string): Frame => ({ name, text: new Pieces(), rows: [], cells: [] });

const isHidden = (attributes: Record<string, string>): boolean =>
  attributes['hidden'] !== undefined ||
  attributes['aria-hidden'] === 'true' ||
  LEFT_OUT_ROLES.has(attributes['role'] ?? '') ||
  /display\s*:\s*none|visibility\s*:\s*hidden/i.test(attributes['style'] ?? '');

/** Tables with one column or one row are layout. */
function tableText(rows: readonly string[][], inCell: boolean): string {
  const filled = rows.filter((cells) => cells.some((cell) => cell !== ''));
  if (filled.length > 1 && filled.some((cells) => cells.length > 1)) return inCell ? plainTable(filled) : markdownTable(filled);
  return filled.map((cells) => cells.filter((cell) => cell !== '').join('\n')).join('\n\n');
}

/**
 * Removes trailing spaces and multiple empty lines. Works line by line, since a regular expression takes time that grows with the square of
 * the spaces.
 */
const tidy = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.slice(0, endOf(line)))
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();

/** Index after the last character of a line that is not a space or tab. */
function endOf(line: string): number {
  let end = line.length;
  while (end > 0 && (line[end - 1] === ' ' || line[end - 1] === '\t')) end--;
  return end;
}
