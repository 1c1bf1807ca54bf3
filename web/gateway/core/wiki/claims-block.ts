import { type Claim, ClaimStatus } from './claim.ts';
import { withoutCode } from './markup.ts';

/** Where a page's claims are shown, where a person wants them elsewhere than at its end. */
export const CLAIMS_HERE = '<!-- perch:claims -->';
const BEGIN = '<!-- perch:claims:begin (Perch writes these lines; write outside of them) -->';
const END = '<!-- perch:claims:end -->';
const BEGINS = /^<!-- perch:claims:begin\b[^\n]*-->[ \t]*\r?$/;
const ENDS = /^<!-- perch:claims:end -->[ \t]*\r?$/;

/** The page without the lines that Perch writes: at the end of the page they are gone, elsewhere `<!-- perch:claims -->` stands for them. All else stays as it was. */
export function withoutClaims(body: string): string {
  if (!body.includes('<!-- perch:claims:begin')) return body;
  const text = withoutLast(body);
  if (!text.includes('<!-- perch:claims:begin')) return text;
  const lines = text.split('\n');
  const shown = withoutCode(text).split('\n');
  const kept: string[] = [];
  let marked = false;
  for (let at = 0; at < lines.length; at++) {
    // One that is never closed is no block: what follows it is a person's.
    const end = BEGINS.test(shown[at] ?? '') ? shown.findIndex((line, i) => i > at && (ENDS.test(line) || BEGINS.test(line))) : -1;
    if (end < 0 || !ENDS.test(shown[end] ?? '')) {
      kept.push(lines[at] ?? '');
      continue;
    }
    if (!marked) kept.push(CLAIMS_HERE);
    marked = true;
    at = end;
  }
  return kept.join('\n');
}

/** The block at the end counts even after code that was never closed. The empty line before it is Perch's, too. */
function withoutLast(body: string): string {
  const end = body.lastIndexOf(END);
  const begin = body.lastIndexOf('<!-- perch:claims:begin', end);
  if (end < 0 || begin < 0 || body.slice(end + END.length).trim() !== '') return body;
  const inside = body.slice(begin, end);
  const own = (begin === 0 || body[begin - 1] === '\n') && inside.endsWith('\n') && !inside.includes(END);
  return own ? body.slice(0, begin).replace(/(\r?\n){1,2}$/, '') : body;
}

/** The page with its claims where `<!-- perch:claims -->` stands, else at its end; as it is where there are none. */
export function withClaims(content: string, claims: readonly Claim[]): string {
  const text = withoutClaims(content);
  if (claims.length === 0) return text;
  const block = [BEGIN, '## Claims', '', ...claims.map(shownClaim), END].join('\n');
  const lines = text.split('\n');
  const here = text.includes(CLAIMS_HERE)
    ? withoutCode(text)
        .split('\n')
        .findIndex((line) => line.trim() === CLAIMS_HERE)
    : -1;
  if (here < 0) return `${text}\n\n${block}\n`;
  return [...lines.slice(0, here), block, ...lines.slice(here + 1)].join('\n');
}

/** One line whatever the claim says: `- The tower is 330 m tall. (confidence 0.9; sources/tower.md, lines 3-7) #height ^claim-…`, struck out where it is not active. */
function shownClaim({ id, text, status, confidence, evidence, tags, reason }: Claim): string {
  const said = oneLine(text);
  const notes = [
    `confidence ${Number(confidence.toFixed(2))}`,
    ...(status === ClaimStatus.ACTIVE ? [] : [`${status}${reason === undefined ? '' : `: ${oneLine(reason)}`}`]),
    ...evidence.map(({ sourceId, sourcePath, lines }) =>
      oneLine(`${sourcePath ?? sourceId}${lines === undefined ? '' : `, lines ${lines}`}`),
    ),
  ];
  const marks = tags.filter((tag) => /^[\p{L}\p{N}_/-]+$/u.test(tag)).map((tag) => ` #${tag}`);
  return `- ${status === ClaimStatus.ACTIVE ? said : `~~${said}~~`} (${notes.join('; ')})${marks.join('')} ^claim-${id}`;
}

/** A claim is text: it can neither end the block nor hide what follows. */
const oneLine = (text: string): string =>
  text.replace(/\s+/g, ' ').trim().replaceAll('<', '&lt;').replaceAll('%%', '%\u200b%').replaceAll('`', '\\`');
