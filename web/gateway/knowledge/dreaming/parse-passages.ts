import type { Pace } from './pace.ts';

/** A part of a source that can be understood on its own. */
export interface Passage {
  text: string;
  /** Counted from 1. */
  line: number;
  /** Why the text must not be attributed to the user or the agent. */
  untrusted?: string | undefined;
}

/** Markers around text written by dreaming in files that others read. */
export const OWN_BEGIN = '<!-- dreaming -->';
export const OWN_END = '<!-- /dreaming -->';

/** Markers around the summary of a day in its notes. */
const SUMMARY_BEGIN = '<!-- perch:summary -->';
const SUMMARY_END = '<!-- /perch:summary -->';

/** Summaries mix tool results with statements of users. */
export const SUMMARY_REASON = 'it comes from a summary, which can include other people’s words';
const QUOTED_REASON = 'it is a quotation';
const OWN_REASON = 'it was written by dreaming';
const REGIONS = [
  { begin: OWN_BEGIN, end: OWN_END, why: OWN_REASON },
  { begin: SUMMARY_BEGIN, end: SUMMARY_END, why: SUMMARY_REASON },
];
/** Also matches within list items. */
const FENCE = /^\s*(?:(?:[-*+]|\d{1,3}[.)])\s+)*(`{3,}|~{3,})(.*)$/;
const QUOTE = /^\s*(?:(?:[-*+]|\d{1,3}[.)])\s+)*>/;
const QUOTE_BEGIN = /<blockquote\b/i;
const QUOTE_END = /<\/blockquote\s*>/i;
const HEADING = /^\s{0,3}#{1,6}\s/;
/** A list item, with the date and category of a memory line. */
const ITEM = /^\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(?:\d{4}-\d\d-\d\d(?: \d\d:\d\d)? \[[a-z]+\] )?/;
/** Words quoted from a page, with their source. */
const QUOTED_WORDS = /["“„«'‘][^]{20,}["”“»'’]/;
const ADDRESS = /\bhttps?:\/\//i;

/** Collects passages line by line. */
interface PassageParser {
  addLine(raw: string, index: number): void;
  getPassages(): Passage[];
}

function createPassageParser(): PassageParser {
  const passages: Passage[] = [];
  let open: Passage | undefined;
  let fence: string | undefined;
  let region: (typeof REGIONS)[number] | undefined;
  let block = false;
  const close = (): void => void (open = undefined);
  const addLine = (raw: string, index: number): void => {
    const [, mark, after = ''] = FENCE.exec(raw) ?? [];
    const ends = fence !== undefined && mark?.startsWith(fence) === true && after.trim() === '';
    const before = region;
    region ??= REGIONS.find(({ begin }) => raw.includes(begin));
    // A region ends only with its own marker, so that its content cannot end it.
    if (region && raw.includes(region.end)) region = undefined;
    const bounds = region !== before || REGIONS.some(({ begin, end }) => before === undefined && raw.includes(begin) && raw.includes(end));
    if (!bounds && ends) fence = undefined;
    else if (!bounds && fence === undefined) fence = mark;
    if (bounds || ends || (mark !== undefined && mark === fence)) return close();
    block ||= QUOTE_BEGIN.test(raw);
    const inBlock = block;
    if (QUOTE_END.test(raw)) block = false;
    if (raw.trim() === '' || (fence === undefined && HEADING.test(raw))) return close();
    // A quotation continues to the end of its paragraph, even without `>`.
    const continuesQuote = open?.untrusted === QUOTED_REASON && !ITEM.test(raw);
    const quoted = fence !== undefined || inBlock || QUOTE.test(raw) || continuesQuote;
    const untrusted = region !== undefined ? region.why : quoted ? QUOTED_REASON : undefined;
    const text = (quoted ? raw.replace(ITEM, '').replace(/^[\s>]+/, '') : raw.replace(ITEM, '')).trim();
    if (text === '') return close();
    if (open && open.untrusted === untrusted && !ITEM.test(raw)) open.text += `\n${text}`;
    else passages.push((open = { text, line: index + 1, untrusted }));
  };
  const isQuoted = ({ untrusted, text }: Passage): boolean => untrusted === undefined && ADDRESS.test(text) && QUOTED_WORDS.test(text);
  return {
    addLine,
    getPassages: () => passages.map((passage) => (isQuoted(passage) ? { ...passage, untrusted: QUOTED_REASON } : passage)),
  };
}

const splitLines = (markdown: string): string[] => markdown.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/);

/**
 * The passages of a Markdown text: list items and paragraphs, without headings. Quotations (`>`, fenced code, quoted words with an address)
 * and text written by dreaming are marked.
 */
export function parsePassages(markdown: string): Passage[] {
  const read = createPassageParser();
  splitLines(markdown).forEach(read.addLine);
  return read.getPassages();
}

/** Number of lines parsed at once. */
const BLOCK_LINES = 200;

/** Like `parsePassages`, but yields to other tasks, for long texts. */
export async function parsePassagesInSlices(markdown: string, pace: Pace): Promise<Passage[]> {
  const read = createPassageParser();
  for (const [index, raw] of splitLines(markdown).entries()) {
    read.addLine(raw, index);
    if (index % BLOCK_LINES === 0) await pace();
  }
  await pace();
  return read.getPassages();
}
