/** A part of a text, with its offsets in UTF-16 code units. */
export interface TextSpan {
  start: number;
  end: number;
}

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });
/** Ends of segments that do not end a sentence: initials, ordinals and abbreviations. */
const ABBREVIATION =
  /(?:^|[\s(])(?:\p{Lu}|[a-z]|e\.g|i\.e|z\. ?B|d\. ?h|u\. ?a|p\. ?ex|Dr|Mr|Mrs|Ms|Prof|St|No|Nr|vs|cf|ca|bzw|usw|approx|Inc|Ltd|Co|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|Fig|Abb|Vol|art|Art|Abs|min|max)\.\s*$/u;
/** "3. Mai" and "am 2. und" go on; "under 12. Guided" does not. */
const ORDINAL = /(?:^|[\s(])\d{1,2}\.\s*$/;
const AFTER_ORDINAL = /^(?:\p{Ll}|Jan|Feb|März|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez|Jahrhundert|Stock|Etage|Klasse)/u;
const SENTENCE_END = /[.!?…。！？:;,\s]/;

/** The sentences of a text on one line, without white space around them. */
export function splitSentences(text: string, offset = 0): TextSpan[] {
  const spans: TextSpan[] = [];
  let isOpen = false;
  let isOrdinal = false;
  for (const { segment, index } of segmenter.segment(text)) {
    const trimmed = segment.trim();
    if (trimmed === '') continue;
    const start = offset + index + segment.indexOf(trimmed);
    const end = start + trimmed.length;
    const last = spans.at(-1);
    if (last && (isOpen || (isOrdinal && AFTER_ORDINAL.test(trimmed)))) last.end = end;
    else spans.push({ start, end });
    isOpen = ABBREVIATION.test(segment);
    isOrdinal = ORDINAL.test(segment);
  }
  return spans;
}

const FENCE = /^[\s>]{0,8}(?:[-*+] +)?(`{3,}|~{3,})/;
const TABLE_RULE = /^\s*\|?(?:\s*:?-{2,}:?\s*\|)+(?:\s*:?-{2,}:?\s*)?$/;
const LINE_MARKS = /^[\s>]*(?:[-*+]\s+(?:\[[ x]\]\s+)?|\d{1,4}[.)]\s+)?/;

/** A sentence of a reply. Sentences of one paragraph share its number. */
export interface ReplySentence extends TextSpan {
  paragraph: number;
}

/**
 * The sentences of a reply in Markdown that can state something: without headings, code, rules and heads of tables. A row of a table is one
 * sentence. The punctuation at the end does not belong to it.
 */
export function splitReply(text: string): ReplySentence[] {
  const sentences: ReplySentence[] = [];
  let fence = '';
  let paragraph = 0;
  let offset = 0;
  const lines = text.split('\n');
  for (const [index, line] of lines.entries()) {
    const start = offset;
    offset += line.length + 1;
    const [, mark = ''] = FENCE.exec(line) ?? [];
    if (mark !== '' && (fence === '' || mark.startsWith(fence))) {
      fence = fence === '' ? mark : '';
      continue;
    }
    if (fence !== '') continue;
    const isTable = line.trimStart().startsWith('|');
    if (line.trim() === '' || /^\s*(?:#|[-*_]{3,}\s*$|\[\^?[^\]]*\]:)/.test(line)) {
      paragraph++;
      continue;
    }
    if (TABLE_RULE.test(line) || TABLE_RULE.test(lines[index + 1] ?? '')) continue;
    if (isTable) {
      const row = line.replace(/\s*\|?\s*$/, '');
      const skip = /^\s*\|\s*/.exec(row)?.[0].length ?? 0;
      if (row.length > skip) sentences.push({ start: start + skip, end: start + row.length, paragraph: ++paragraph });
      continue;
    }
    const skip = LINE_MARKS.exec(line)?.[0].length ?? 0;
    if (skip > 0 && /[-*+\d]/.test(line.slice(0, skip))) paragraph++;
    for (const span of splitSentences(line.slice(skip), start + skip)) {
      let { end } = span;
      while (end > span.start && SENTENCE_END.test(text.charAt(end - 1))) end--;
      if (end > span.start) sentences.push({ start: span.start, end, paragraph });
    }
  }
  return sentences;
}

/** Conjunctions of some languages that begin a clause. */
const CONJUNCTIONS =
  'and|but|while|whereas|which|who|because|although|und|aber|sondern|während|weil|obwohl|sowie|et|mais|tandis que|y|pero|mientras|e|ma|mas';
/** Boundaries of clauses that say something of their own: semicolons, dashes and conjunctions. */
const STRONG_BOUNDARY = new RegExp(String.raw`[;；](?=\s|\p{L})|\s[–—-]\s|\s\|\s|,?\s(?=(?:${CONJUNCTIONS})\s)`, 'giu');
/** The same, and all other punctuation within a sentence. */
const CLAUSE_BOUNDARY = new RegExp(String.raw`[;:,、，；](?=\s|\p{L})|\s[–—-]\s|\s\|\s|\s(?=(?:${CONJUNCTIONS})\s)`, 'giu');

/** The clauses of a sentence. A comma between digits, or in a date, is no boundary. `isStrong`: only those that can stand alone. */
export function splitClauses(text: string, { start, end }: TextSpan, isStrong = false): TextSpan[] {
  const sentence = text.slice(start, end);
  const spans: TextSpan[] = [];
  let from = 0;
  const add = (to: number): void => {
    const piece = sentence.slice(from, to);
    const trimmed = piece.trim();
    if (trimmed !== '') {
      const at = start + from + piece.indexOf(trimmed);
      spans.push({ start: at, end: at + trimmed.length });
    }
  };
  for (const { 0: mark, index } of sentence.matchAll(isStrong ? STRONG_BOUNDARY : CLAUSE_BOUNDARY)) {
    // "May 3, 2021" and "3 May, 2021" are one date.
    if (mark === ',' && /\d\s*$/.test(sentence.slice(0, index)) && /^,\s*\d{4}\b/.test(sentence.slice(index))) continue;
    if (mark === ',' && /\p{L}\s*$/u.test(sentence.slice(0, index)) && /^,\s*(?:19|20)\d\d\b/.test(sentence.slice(index))) continue;
    add(index);
    from = index + (mark.trim() === '' ? 0 : mark.length);
  }
  add(sentence.length);
  return spans;
}
