import { type Claim, ClaimStatus } from './claim.ts';
import { maskCode } from './mask-code.ts';

/** Placeholder for a page's claims, if they should not be shown at its end. */
const CLAIMS_PLACEHOLDER = '<!-- perch:claims -->';
const BEGIN = '<!-- perch:claims:begin (Perch writes these lines; write outside of them) -->';
const END = '<!-- perch:claims:end -->';
const BEGIN_LINE = /^<!-- perch:claims:begin\b[^\n]*-->[ \t]*\r?$/;
const END_LINE = /^<!-- perch:claims:end -->[ \t]*\r?$/;

/**
 * Removes the claims that Perch has written into a page. A block at the end is deleted; elsewhere it is replaced by `<!-- perch:claims
 * -->`. All other text is unchanged.
 */
export function removeClaims(body: string): string {
  if (!body.includes('<!-- perch:claims:begin')) return body;
  const text = removeLastBlock(body);
  if (!text.includes('<!-- perch:claims:begin')) return text;
  const lines = text.split('\n');
  const masked = maskCode(text).split('\n');
  const result: string[] = [];
  let hasPlaceholder = false;
  for (let index = 0; index < lines.length; index++) {
    // A block that is never closed is not a block: the text after it is the user's.
    const end = BEGIN_LINE.test(masked[index] ?? '')
      ? masked.findIndex((line, i) => i > index && (END_LINE.test(line) || BEGIN_LINE.test(line)))
      : -1;
    if (end < 0 || !END_LINE.test(masked[end] ?? '')) {
      result.push(lines[index] ?? '');
      continue;
    }
    if (!hasPlaceholder) result.push(CLAIMS_PLACEHOLDER);
    hasPlaceholder = true;
    index = end;
  }
  return result.join('\n');
}

/** Removes the block at the end, even after an unclosed code block, together with the empty line before it, which Perch wrote. */
function removeLastBlock(body: string): string {
  const end = body.lastIndexOf(END);
  const begin = body.lastIndexOf('<!-- perch:claims:begin', end);
  if (end < 0 || begin < 0 || body.slice(end + END.length).trim() !== '') return body;
  const inside = body.slice(begin, end);
  const isOwnBlock = (begin === 0 || body[begin - 1] === '\n') && inside.endsWith('\n') && !inside.includes(END);
  return isOwnBlock ? body.slice(0, begin).replace(/(\r?\n){1,2}$/, '') : body;
}

/** Inserts the claims at `<!-- perch:claims -->`, or else at the end of the page. Returns the page unchanged if there are none. */
export function insertClaims(content: string, claims: readonly Claim[]): string {
  const text = removeClaims(content);
  if (claims.length === 0) return text;
  const block = [BEGIN, '## Claims', '', ...claims.map(formatClaim), END].join('\n');
  const lines = text.split('\n');
  const placeholderLine = text.includes(CLAIMS_PLACEHOLDER)
    ? maskCode(text)
        .split('\n')
        .findIndex((line) => line.trim() === CLAIMS_PLACEHOLDER)
    : -1;
  if (placeholderLine < 0) return `${text}\n\n${block}\n`;
  return [...lines.slice(0, placeholderLine), block, ...lines.slice(placeholderLine + 1)].join('\n');
}

/**
 * A claim on one line: `- The tower is 330 m tall. (confidence 0.9; sources/tower.md, lines 3-7) #height ^claim-…`, struck through if it is
 * not active.
 */
function formatClaim({ id, text, status, confidence, evidence, tags, reason }: Claim): string {
  const sentence = escapeLine(text);
  const notes = [
    `confidence ${Number(confidence.toFixed(2))}`,
    ...(status === ClaimStatus.ACTIVE ? [] : [`${status}${reason === undefined ? '' : `: ${escapeLine(reason)}`}`]),
    ...evidence.map(({ sourceId, sourcePath, lines }) =>
      escapeLine(`${sourcePath ?? sourceId}${lines === undefined ? '' : `, lines ${lines}`}`),
    ),
  ];
  const marks = tags.filter((tag) => /^[\p{L}\p{N}_/-]+$/u.test(tag)).map((tag) => ` #${tag}`);
  return `- ${status === ClaimStatus.ACTIVE ? sentence : `~~${sentence}~~`} (${notes.join('; ')})${marks.join('')} ^claim-${id}`;
}

/** Escapes a claim's text, so that it can neither end the block nor hide the text after it. */
const escapeLine = (text: string): string =>
  text.replace(/\s+/g, ' ').trim().replaceAll('<', '&lt;').replaceAll('%%', '%\u200b%').replaceAll('`', '\\`');
