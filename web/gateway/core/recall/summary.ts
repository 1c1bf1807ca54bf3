import { onOneLine } from './context-message.ts';
import { inOrder, type Judged, type Policy } from './policies.ts';
import type { RecalledMemory } from './result.ts';

/** Minimum length of a useful excerpt, in characters. */
const LEAST_CHARS = 24;
const LEAD = '- ';

/**
 * Formats the chosen memories within a length limit: the most relevant get space first; one line each, in the style's order. No model is
 * used: long texts are cut to an excerpt around the matched words.
 */
export function summaryOf(chosen: readonly Judged[], policy: Policy, maxChars: number): { summary: string; memories: RecalledMemory[] } {
  const share = policy.spread ? Math.max(2 * LEAST_CHARS, Math.floor(maxChars / Math.max(1, chosen.length))) : maxChars;
  const memories: RecalledMemory[] = [];
  let left = maxChars;
  for (const { id, text, category, why, at, source, relevance } of chosen) {
    const room = Math.min(left, share) - LEAD.length;
    const plain = onOneLine(text);
    if (plain === '') continue;
    if (plain.length > room && room < LEAST_CHARS) break;
    const told = excerpt(plain, [...why.words, ...why.beside], room);
    memories.push({ id, text: told, ...(category === undefined ? {} : { category }), why, at, source, relevance });
    left -= LEAD.length + told.length + 1;
  }
  const ordered = inOrder(memories, policy);
  return { summary: ordered.map(({ text }) => `${LEAD}${text}`).join('\n'), memories: ordered };
}

/** Cuts a line to at most `most` characters around the first matched word. */
export function excerpt(line: string, words: readonly string[], most: number): string {
  if (line.length <= most) return line;
  const small = line.toLowerCase();
  // Lower-casing can change the length, which would shift positions.
  const places = small.length === line.length ? words.map((word) => small.indexOf(word)).filter((place) => place >= 0) : [];
  const first = places.length > 0 ? Math.min(...places) : 0;
  const from = first < most * 0.6 ? 0 : Math.min(first - Math.floor(most / 3), line.length - most + 1);
  const [before, after] = [from > 0 ? '…' : '', from + most < line.length ? '…' : ''];
  let piece = line.slice(from, from + most - before.length - after.length);
  if (before) piece = piece.replace(/^\S{0,20}\s+/, '');
  if (after) piece = piece.replace(/\s+\S{0,20}$/, '');
  return `${before}${piece.toWellFormed().replaceAll('\ufffd', '').trim()}${after}`;
}
