import type { PassageLocator } from '#shared/rpc/passage.ts';
import type { Passage } from '../document-reader.ts';

/** Lengths of passages in characters. A passage grows to the minimum if its section has as much, and never beyond the maximum. */
export const PASSAGE_CHARS = { min: 600, target: 1000, max: 1400 } as const;
/** A rest of a section this short is added to the passage before it, which may exceed the maximum by as much. */
const MAX_REST_CHARS = 200;
/** Maximum length of a document's text in characters. */
export const MAX_DOCUMENT_CHARS = 20 * 1024 * 1024;

/** Place of a block, without its offsets. */
export type PassagePlace = Omit<PassageLocator, 'start' | 'end'>;

export interface TextBlock {
  text: string;
  place: PassagePlace;
  /** Text between this block and the one before: an empty line by default. */
  gap?: string;
  /** How a block that is too long is split: into sentences, where line breaks have no meaning, or into lines. */
  form?: 'prose' | 'lines';
  /** Instead of `form`: the parts of the block that are not split if they are short enough. */
  units?: readonly string[];
  /** Header of a table, in front of its later parts. */
  header?: string | undefined;
}

interface OpenPassage {
  start: number;
  end: number;
  place: PassagePlace;
  /** Section of the last block: a short section continues in its subsections. */
  section: PassagePlace;
  header: string | undefined;
}

/** Joins blocks of a document's text, and groups neighbours of one section to passages. */
export class PassageBuilder {
  readonly #passages: OpenPassage[] = [];
  readonly #limit: number;
  #text = '';
  #open: OpenPassage | undefined;
  /** Whether blocks were left out because the text is too long. */
  isTruncated = false;

  constructor(limit = MAX_DOCUMENT_CHARS) {
    this.#limit = limit;
  }

  get length(): number {
    return this.#text.length;
  }

  /** Adds a block; false if the text is full. */
  add({ text, place, gap = '\n\n', form = 'prose', units: ownUnits, header }: TextBlock): boolean {
    if (text.trim() === '') return !this.isTruncated;
    if (this.#text.length + gap.length + text.length > this.#limit) {
      this.isTruncated = true;
      return false;
    }
    if (this.#text !== '') this.#text += gap;
    const units =
      text.length <= PASSAGE_CHARS.max
        ? [text]
        : (ownUnits?.flatMap(cutLong) ?? (form === 'prose' ? splitSentences(text) : splitLines(text)));
    let line = place.line;
    for (const [index, unit] of units.entries()) {
      const start = this.#text.length;
      this.#text += unit;
      this.#addUnit(start, line === undefined ? place : { ...place, line }, index > 0 ? header : undefined);
      if (line !== undefined) line += countLineBreaks(unit);
    }
    return true;
  }

  /** Adds the beginning of a block to the passage before, whatever its section: the end of a paragraph that a page break interrupts. */
  continue(text: string): void {
    this.#text += text;
    if (this.#open) this.#open.end = this.#text.length;
  }

  /** Adds the passages of another document, such as an attachment, at places below `headings`. */
  append(document: { text: string; passages: readonly Passage[] }, headings: readonly string[]): boolean {
    this.#close();
    const gap = this.#text === '' ? '' : '\n\n';
    const base = this.#text.length + gap.length;
    if (base + document.text.length > this.#limit) {
      this.isTruncated = true;
      return false;
    }
    this.#text += gap + document.text;
    for (const { locator } of document.passages) {
      const { start, end, line: _line, ...rest } = locator;
      const place = { ...rest, headings: [...headings, ...(rest.headings ?? [])] };
      this.#passages.push({ start: base + start, end: base + end, place, section: place, header: undefined });
    }
    return true;
  }

  finish(): { text: string; passages: Passage[] } {
    this.#close();
    const text = this.#text;
    const passages = this.#passages.flatMap(({ start, end, place, header }) => {
      const body = text.slice(start, end);
      // Without empty lines around it; the first line keeps its indentation.
      const begin = start + body.slice(0, body.length - body.trimStart().length).lastIndexOf('\n') + 1;
      const content = text.slice(begin, end).trimEnd();
      if (content === '') return [];
      const line = place.line === undefined ? {} : { line: place.line + countLineBreaks(text.slice(start, begin)) };
      return [
        {
          text: header === undefined ? content : `${header}\n${content}`,
          locator: { ...place, ...line, start: begin, end: begin + content.length },
        },
      ];
    });
    return { text, passages };
  }

  #addUnit(start: number, place: PassagePlace, header: string | undefined): void {
    const end = this.#text.length;
    const open = this.#open;
    if (open && this.#canExtend(open, place, end)) {
      open.end = end;
      open.section = place;
      return;
    }
    this.#close();
    this.#open = { start, end, place, section: place, header };
  }

  #canExtend(open: OpenPassage, place: PassagePlace, end: number): boolean {
    const [before, total] = [open.end - open.start, end - open.start];
    if (total > PASSAGE_CHARS.max) return false;
    if (isSameSection(open.section, place)) return before < PASSAGE_CHARS.min || total <= PASSAGE_CHARS.target;
    return before < MAX_REST_CHARS && isBelow(open.section, place);
  }

  #close(): void {
    const open = this.#open;
    this.#open = undefined;
    if (!open) return;
    const last = this.#passages.at(-1);
    const isRest = open.end - open.start < MAX_REST_CHARS && last && open.end - last.start <= PASSAGE_CHARS.max + MAX_REST_CHARS;
    if (isRest && isSameSection(last.section, open.place)) last.end = open.end;
    else this.#passages.push(open);
  }
}

const toKey = ({ page, sheet }: PassagePlace): string => `${page ?? ''}\n${sheet ?? ''}`;

function isSameSection(a: PassagePlace, b: PassagePlace): boolean {
  return toKey(a) === toKey(b) && (a.headings ?? []).join('\n') === (b.headings ?? []).join('\n');
}

/** Whether `b` is in a subsection of `a`. */
function isBelow(a: PassagePlace, b: PassagePlace): boolean {
  const [upper, lower] = [a.headings ?? [], b.headings ?? []];
  return (
    toKey(a) === toKey(b) && upper.length > 0 && upper.length < lower.length && upper.every((heading, index) => heading === lower[index])
  );
}

export function countLineBreaks(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });
/** Maximum number of characters in which sentences are found at once: the time of a segmenter grows with the text. */
const MAX_SEGMENTED_CHARS = 50_000;

/** Sentences with the space after them. One that is longer than a passage is cut between words. */
export function splitSentences(text: string): string[] {
  const found: string[] = [];
  for (let from = 0; from < text.length;) {
    const to = findCut(text, from, MAX_SEGMENTED_CHARS);
    const part = text.slice(from, to);
    // Line breaks of a paragraph would end sentences. The replacement keeps the offsets.
    for (const { index, segment } of sentences.segment(part.replaceAll('\n', ' ')))
      found.push(...cutLong(part.slice(index, index + segment.length)));
    from = to;
  }
  return found;
}

/** Lines with their line breaks. One that is longer than a passage is cut between words. */
function splitLines(text: string): string[] {
  return text.split(/(?<=\n)/).flatMap(cutLong);
}

function cutLong(text: string): string[] {
  if (text.length <= PASSAGE_CHARS.max) return [text];
  const parts: string[] = [];
  for (let from = 0; from < text.length;) {
    const to = findCut(text, from, PASSAGE_CHARS.max);
    parts.push(text.slice(from, to));
    from = to;
  }
  return parts;
}

/** End of a part of at most `length` characters: after a space if one is near, and never within a character. */
function findCut(text: string, from: number, length: number): number {
  const to = from + length;
  if (to >= text.length) return text.length;
  for (let at = to; at > to - length / 4; at--) if (/\s/.test(text.charAt(at - 1))) return at;
  const code = text.charCodeAt(to - 1);
  return code >= 0xd800 && code <= 0xdbff ? to - 1 : to;
}
