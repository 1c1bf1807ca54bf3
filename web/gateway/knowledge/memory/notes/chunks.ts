import { estimateTokens } from '#shared/estimate-tokens.ts';

/** Size of a chunk in tokens, and its overlap with the next one. */
const CHUNK_TOKENS = 400;
const OVERLAP_TOKENS = 80;
/** Longer lines are split at this length, in characters, so that no line exceeds a chunk. */
const MAX_LINE_CHARS = 4 * CHUNK_TOKENS;

interface Chunk {
  text: string;
  /** First and last line, counted from 1. */
  line: number;
  end: number;
}

interface LinePiece {
  text: string;
  line: number;
  tokens: number;
}

/**
 * Splits Markdown into chunks of up to about 400 tokens, at headings first and then at lines; neighbouring chunks overlap by about 80
 * tokens.
 */
export function splitChunks(markdown: string): Chunk[] {
  const chunks: Chunk[] = [];
  let section: LinePiece[] = [];
  let fenced = false;
  for (const [index, text] of markdown
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\n|\r/)
    .entries()) {
    if (/^\s{0,3}(```|~~~)/.test(text)) fenced = !fenced;
    if (!fenced && /^#{1,6}\s/.test(text) && section.some(({ text }) => !/^(#{1,6}\s|\s*$)/.test(text))) {
      chunks.push(...cutSection(section));
      section = [];
    }
    section.push(...splitLine(text, index + 1));
  }
  return [...chunks, ...cutSection(section)];
}

function splitLine(text: string, line: number): LinePiece[] {
  if (text.length <= MAX_LINE_CHARS) return [{ text, line, tokens: estimateTokens(text) + 1 }];
  const pieces: LinePiece[] = [];
  // Dense scripts need up to a token per character. A quarter of the length always fits, and splitting by code points keeps surrogate pairs
  // intact.
  const chars = new RegExp(`[^]{1,${CHUNK_TOKENS}}`, 'gu');
  for (const [part] of text.matchAll(chars)) pieces.push({ text: part, line, tokens: estimateTokens(part) + 1 });
  return pieces;
}

function cutSection(section: readonly LinePiece[]): Chunk[] {
  const chunks: Chunk[] = [];
  let from = 0;
  while (from < section.length) {
    let [to, tokens] = [from, 0];
    while (to < section.length && (to === from || tokens + (section[to]?.tokens ?? 0) <= CHUNK_TOKENS))
      tokens += section[to++]?.tokens ?? 0;
    const chunk = toChunk(section.slice(from, to));
    if (chunk) chunks.push(chunk);
    if (to === section.length) break;
    let [back, shared] = [to, 0];
    while (back > from + 1 && shared + (section[back - 1]?.tokens ?? 0) <= OVERLAP_TOKENS) shared += section[--back]?.tokens ?? 0;
    from = back;
  }
  return chunks;
}

function toChunk(pieces: readonly LinePiece[]): Chunk | undefined {
  const nonBlank = pieces.filter(({ text }) => text.trim() !== '');
  const [first, last] = [nonBlank[0], nonBlank.at(-1)];
  if (!first || !last) return undefined;
  const lines = pieces.slice(pieces.indexOf(first), pieces.indexOf(last) + 1);
  const text = lines.reduce(
    (joined, { text, line }, index) => joined + (index === 0 ? '' : line === lines[index - 1]?.line ? '' : '\n') + text,
    '',
  );
  return { text, line: first.line, end: last.line };
}
