import { toSingleLine } from './context-message.ts';
import { sortMemories, type ScoredMemory, type RecallPolicy } from './recall-policies.ts';
import type { RecalledMemory } from './recall-result.ts';

/** Minimum length of a useful excerpt, in characters. */
const MIN_EXCERPT_CHARS = 24;
const LEAD = '- ';

/**
 * Formats the chosen memories within a length limit: the most relevant get space first; one line each, in the style's order. No model is
 * used: long texts are cut to an excerpt around the matched words.
 */
export function createSummary(
  chosen: readonly ScoredMemory[],
  policy: RecallPolicy,
  maxChars: number,
): { summary: string; memories: RecalledMemory[] } {
  const share = policy.spread ? Math.max(2 * MIN_EXCERPT_CHARS, Math.floor(maxChars / Math.max(1, chosen.length))) : maxChars;
  const memories: RecalledMemory[] = [];
  let remainingChars = maxChars;
  for (const { id, text, category, why, at, source, relevance } of chosen) {
    const maxLength = Math.min(remainingChars, share) - LEAD.length;
    const plain = toSingleLine(text);
    if (plain === '') continue;
    if (plain.length > maxLength && maxLength < MIN_EXCERPT_CHARS) break;
    const shortText = toExcerpt(plain, [...why.words, ...why.beside], maxLength);
    memories.push({ id, text: shortText, ...(category === undefined ? {} : { category }), why, at, source, relevance });
    remainingChars -= LEAD.length + shortText.length + 1;
  }
  const ordered = sortMemories(memories, policy);
  return { summary: ordered.map(({ text }) => `${LEAD}${text}`).join('\n'), memories: ordered };
}

/** Cuts a line to at most `maxChars` characters around the first matched word. */
export function toExcerpt(line: string, words: readonly string[], maxChars: number): string {
  if (line.length <= maxChars) return line;
  const small = line.toLowerCase();
  // Lower-casing can change the length, which would shift positions.
  const positions = small.length === line.length ? words.map((word) => small.indexOf(word)).filter((position) => position >= 0) : [];
  const first = positions.length > 0 ? Math.min(...positions) : 0;
  const from = first < maxChars * 0.6 ? 0 : Math.min(first - Math.floor(maxChars / 3), line.length - maxChars + 1);
  const [before, after] = [from > 0 ? '…' : '', from + maxChars < line.length ? '…' : ''];
  let piece = line.slice(from, from + maxChars - before.length - after.length);
  if (before) piece = piece.replace(/^\S{0,20}\s+/, '');
  if (after) piece = piece.replace(/\s+\S{0,20}$/, '');
  return `${before}${piece.toWellFormed().replaceAll('\ufffd', '').trim()}${after}`;
}
