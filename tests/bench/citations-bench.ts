import { type Figure, toMinBar } from './figures.ts';
import { type CitedAnswer, citeAnswer, getCitedParts } from './citations/cited-answer.ts';
import { DOCUMENTS } from './citations/documents.ts';
import { QUESTIONS } from './citations/questions.ts';

interface Counts {
  marked: number;
  right: number;
  supported: number;
  found: number;
  /** Parts that no document supports, with a marker or without. */
  unsupported: number;
  rejected: number;
}

const toPercent = (part: number, whole: number): number => (whole === 0 ? 100 : (part / whole) * 100);

/** Claims of written answers that are marked with a source (NOTES.md, "Citations"): how many are supported, and how many are found. */
export function benchCitations(): Promise<Figure[]> {
  const since = performance.now();
  const answers = QUESTIONS.map(([question, answer], index) => citeAnswer(question, answer, index + 1));
  const ms = performance.now() - since;
  const counts = answers.map(countParts).reduce(sum);
  const precision = toPercent(counts.right, counts.marked);
  const changed = answers.flatMap((answer, index) => listChanged(answer, index + 1));
  for (const { text } of changed.filter(({ isMarked }) => isMarked)) console.error(`changed, and marked: ${text}`);
  const kept = changed.filter(({ isMarked }) => !isMarked).length;
  return Promise.resolve([
    { what: 'citations: documents', unit: '', ours: DOCUMENTS.length, bar: toMinBar(DOCUMENTS.length, 50, '') },
    { what: '  questions', unit: '', ours: QUESTIONS.length, bar: toMinBar(QUESTIONS.length, 200, '') },
    { what: '  marked claims', unit: '', ours: counts.marked },
    { what: '    that their source supports', unit: '%', ours: precision, bar: toMinBar(precision, 95, '%') },
    { what: '  claims that a source supports', unit: '', ours: counts.supported },
    { what: '    that are marked with it', unit: '%', ours: toPercent(counts.found, counts.supported) },
    { what: '  claims that no source supports', unit: '', ours: counts.unsupported },
    { what: '    that are not marked', unit: '%', ours: toPercent(counts.rejected, counts.unsupported) },
    { what: '  claims with a changed number or negation', unit: '', ours: changed.length },
    {
      what: '    that are not marked',
      unit: '%',
      ours: toPercent(kept, changed.length),
      bar: toMinBar(toPercent(kept, changed.length), 95, '%'),
    },
    { what: '  time per answer', unit: 'ms', ours: ms / QUESTIONS.length },
  ]);
}

function countParts(answer: CitedAnswer): Counts {
  const { parts, citations, toDocument, text } = answer;
  const covered = citations.map((citation) => ({ id: toDocument(citation), parts: getCitedParts(answer, citation), citation }));
  const isRight = ({ id, parts: cited }: (typeof covered)[number]): boolean =>
    cited.length > 0 && cited.every(({ supports }) => supports.includes(id));
  for (const each of covered) {
    if (!isRight(each))
      console.error(`wrong: [${each.id}] ${text.slice(each.citation.start, each.citation.end)} | ${each.citation.quote.text}`);
  }
  const isFound = (part: (typeof parts)[number]): boolean =>
    covered.some(({ id, parts: cited }) => cited.includes(part) && part.supports.includes(id));
  for (const part of parts) {
    if (process.env['PERCH_BENCH_LIST'] && part.supports.length > 0 && !isFound(part))
      console.error(`not marked: [${part.supports.join()}] ${part.text}`);
  }
  const supported = parts.filter(({ supports }) => supports.length > 0);
  const unsupported = parts.filter(({ supports }) => supports.length === 0);
  return {
    marked: covered.length,
    right: covered.filter(isRight).length,
    supported: supported.length,
    found: supported.filter(isFound).length,
    unsupported: unsupported.length,
    rejected: unsupported.filter((part) => !covered.some(({ parts: cited }) => cited.includes(part))).length,
  };
}

/** Changes of a claim that make it wrong: another number, and a negation added or removed. */
const CHANGES: readonly ((claim: string) => string)[] = [
  (claim) => claim.replace(/\d+(?![\d.,:]*\d)/, (digits) => String(Number(digits) + 7)),
  (claim) => claim.replace(/ (?:not|no) /, ' '),
  (claim) => (/ (?:not|no|never|nicht|kein) /.test(claim) ? claim : claim.replace(/ (is|are|was|were|may|has been|wird|ist) /, ' $1 not ')),
];

/** The claims that are marked rightly, changed so that their source says something else, and whether they are still marked with it. */
function listChanged({ question, parts, citations, toDocument }: CitedAnswer, seed: number): { text: string; isMarked: boolean }[] {
  const right = parts.filter(
    ({ named, supports, start, end }) =>
      supports.includes(named) &&
      citations.some((citation) => toDocument(citation) === named && citation.start <= start && citation.end >= end - 1),
  );
  return right.flatMap(({ text, named }) =>
    CHANGES.flatMap((change) => {
      const changed = change(text);
      if (changed === text) return [];
      const answer = citeAnswer(question, `${changed}<${named}=>.`, seed);
      const at = answer.parts[0]?.start ?? 0;
      const changedAt = at + [...changed].findIndex((char, index) => char !== text[index]);
      const isMarked = answer.citations.some(
        (each) => answer.toDocument(each) === named && each.start <= changedAt && each.end >= changedAt,
      );
      return [{ text: changed, isMarked }];
    }),
  );
}

const sum = (a: Counts, b: Counts): Counts => ({
  marked: a.marked + b.marked,
  right: a.right + b.right,
  supported: a.supported + b.supported,
  found: a.found + b.found,
  unsupported: a.unsupported + b.unsupported,
  rejected: a.rejected + b.rejected,
});
