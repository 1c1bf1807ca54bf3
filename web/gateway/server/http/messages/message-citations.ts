import type { ModelEvent } from '../../../providers/provider.ts';
import { isWebSource } from '../annotations.ts';

/** A citation of a text block, as the Messages API has it: of a web page, or of a document. */
type MessageCitation = { cited_text: string; title: string } & (
  | { type: 'web_search_result_location'; url: string; encrypted_index: string }
  | { type: 'search_result_location'; source: string; search_result_index: number; start_block_index: 0; end_block_index: 1 }
);

/** A citation with the range of its claim, in UTF-16 code units. */
export interface PlacedCitation {
  start: number;
  end: number;
  citation: MessageCitation;
}

type CitationsEvent = Extract<ModelEvent, { type: 'citations' }>;

/** The citations of an answer, with ranges in the text of the whole answer. */
export function toPlacedCitations({ start: offset, citations, sources }: CitationsEvent): PlacedCitation[] {
  const byNumber = new Map(sources.map((source) => [source.number, source]));
  return citations.flatMap(({ start, end, number, quote }) => {
    const source = byNumber.get(number);
    if (!source) return [];
    const { id, url, title, path } = source;
    const common = { cited_text: quote.text, title };
    const citation: MessageCitation = isWebSource(source)
      ? { type: 'web_search_result_location', ...common, url: source.url, encrypted_index: String(number) }
      : {
          type: 'search_result_location',
          ...common,
          source: path ?? url ?? id,
          ...{ search_result_index: number - 1, start_block_index: 0, end_block_index: 1 },
        };
    return [{ start: start + offset, end: end + offset, citation }];
  });
}

/** A part of a text; `citations` is null for a part that cites nothing. */
export interface CitedText {
  text: string;
  citations: MessageCitation[] | null;
}

/** Splits a text that starts at `offset` of the answer into cited and other parts. Parts of white space join the one before. */
export function splitCitedText(text: string, offset: number, placed: readonly PlacedCitation[]): CitedText[] {
  const ranges: { start: number; end: number; citations: MessageCitation[] }[] = [];
  for (const { citation, ...range } of placed.toSorted((a, b) => a.start - b.start)) {
    const [start, end] = [range.start - offset, Math.min(range.end - offset, text.length)];
    if (start < 0 || start >= end) continue;
    const last = ranges.at(-1);
    if (last && start < last.end) {
      last.end = Math.max(last.end, end);
      last.citations.push(citation);
    } else ranges.push({ start, end, citations: [citation] });
  }
  const parts: CitedText[] = [];
  const addPlain = (plain: string): void => {
    const last = parts.at(-1);
    // The API refuses blocks of white space in requests, and clients send these blocks back.
    if (last && plain.trim() === '') last.text += plain;
    else if (plain !== '') parts.push({ text: plain, citations: null });
  };
  let position = 0;
  for (const { start, end, citations } of ranges) {
    addPlain(text.slice(position, start));
    parts.push({ text: text.slice(start, end), citations });
    position = end;
  }
  addPlain(text.slice(position));
  return parts;
}
