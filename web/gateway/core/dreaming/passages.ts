import type { Pace } from './pace.ts';

/** A piece of a source that can be read by itself. */
export interface Passage {
  text: string;
  /** From 1 on. */
  line: number;
  /** Why it is nobody's own word here. */
  untrusted?: string | undefined;
}

/** Around what dreaming writes itself, in files that others read. */
export const OWN_BEGIN = '<!-- dreaming -->';
export const OWN_END = '<!-- /dreaming -->';

/** Around the summary of a day in its note. */
const SUMMARY_BEGIN = '<!-- perch:summary -->';
const SUMMARY_END = '<!-- /perch:summary -->';

/** Results of tools go into summaries as what persons said does. */
export const SUMMARY = 'it comes from a summary, which can include other people’s words';
const QUOTED = 'it is a quotation';
const OWN = 'it was written by dreaming';
const REGIONS = [
  { begin: OWN_BEGIN, end: OWN_END, why: OWN },
  { begin: SUMMARY_BEGIN, end: SUMMARY_END, why: SUMMARY },
];
/** Also as items of lists. */
const FENCE = /^\s*(?:(?:[-*+]|\d{1,3}[.)])\s+)*(`{3,}|~{3,})(.*)$/;
const QUOTE = /^\s*(?:(?:[-*+]|\d{1,3}[.)])\s+)*>/;
const QUOTE_BEGIN = /<blockquote\b/i;
const QUOTE_END = /<\/blockquote\s*>/i;
const HEADING = /^\s{0,3}#{1,6}\s/;
/** An item of a list, with the date and kind that a remembered line has. */
const ITEM = /^\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(?:\d{4}-\d\d-\d\d(?: \d\d:\d\d)? \[[a-z]+\] )?/;
/** A page's words, with where they are from. */
const ATTRIBUTED = /["“„«'‘][^]{20,}["”“»'’]/;
const ADDRESS = /\bhttps?:\/\//i;

/** What gathers passages, line by line. */
interface Reading {
  take(raw: string, index: number): void;
  passages(): Passage[];
}

function reading(): Reading {
  const passages: Passage[] = [];
  let open: Passage | undefined;
  let fence: string | undefined;
  let region: (typeof REGIONS)[number] | undefined;
  let block = false;
  const close = (): void => void (open = undefined);
  const take = (raw: string, index: number): void => {
    const [, mark, after = ''] = FENCE.exec(raw) ?? [];
    const ends = fence !== undefined && mark?.startsWith(fence) === true && after.trim() === '';
    const before = region;
    region ??= REGIONS.find(({ begin }) => raw.includes(begin));
    // Each ends by its own mark alone, for what is in it is not to end it.
    if (region && raw.includes(region.end)) region = undefined;
    const bounds = region !== before || REGIONS.some(({ begin, end }) => before === undefined && raw.includes(begin) && raw.includes(end));
    if (!bounds && ends) fence = undefined;
    else if (!bounds && fence === undefined) fence = mark;
    if (bounds || ends || (mark !== undefined && mark === fence)) return close();
    block ||= QUOTE_BEGIN.test(raw);
    const inBlock = block;
    if (QUOTE_END.test(raw)) block = false;
    if (raw.trim() === '' || (fence === undefined && HEADING.test(raw))) return close();
    // A quotation goes on to the end of its paragraph, also where `>` is left out.
    const goesOn = open?.untrusted === QUOTED && !ITEM.test(raw);
    const quoted = fence !== undefined || inBlock || QUOTE.test(raw) || goesOn;
    const untrusted = region !== undefined ? region.why : quoted ? QUOTED : undefined;
    const text = (quoted ? raw.replace(ITEM, '').replace(/^[\s>]+/, '') : raw.replace(ITEM, '')).trim();
    if (text === '') return close();
    if (open && open.untrusted === untrusted && !ITEM.test(raw)) open.text += `\n${text}`;
    else passages.push((open = { text, line: index + 1, untrusted }));
  };
  const isQuoted = ({ untrusted, text }: Passage): boolean => untrusted === undefined && ADDRESS.test(text) && ATTRIBUTED.test(text);
  return { take, passages: () => passages.map((passage) => (isQuoted(passage) ? { ...passage, untrusted: QUOTED } : passage)) };
}

const linesOf = (markdown: string): string[] => markdown.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/);

/**
 * The passages of a Markdown text: items of lists and paragraphs, without headings. What is quoted (`>`, fences, words in quotation marks with an address) and
 * what dreaming wrote is marked.
 */
export function passagesOf(markdown: string): Passage[] {
  const read = reading();
  linesOf(markdown).forEach(read.take);
  return read.passages();
}

/** Lines that are read at once. */
const BLOCK = 200;

/** As above, for texts that may be long: others have their turn between. */
export async function passagesInTurns(markdown: string, pace: Pace): Promise<Passage[]> {
  const read = reading();
  for (const [index, raw] of linesOf(markdown).entries()) {
    read.take(raw, index);
    if (index % BLOCK === 0) await pace();
  }
  await pace();
  return read.passages();
}
