import { toTerm, splitWords } from '../text/analyze.ts';
import type { Concept } from './concepts.ts';
import type { MemoryIndex } from './memory-index.ts';
import type { Weights } from './weights.ts';

/** Query expansion: frequent concepts of the best passages, searched too with less weight. */
export function expandQuery(
  index: MemoryIndex,
  concepts: readonly Concept[],
  best: readonly { number: number; score: number }[],
  w: Weights,
): Concept[] {
  const known = new Set(concepts.flatMap(({ terms }) => terms.map(({ term }) => term)));
  const top = best[0]?.score ?? 0;
  const sums = new Map<string, number>();
  for (const { number, score } of best.slice(0, w.feedbackPassages)) {
    const passage = index.passage(number);
    if (!passage) continue;
    const language = index.getLanguage(number);
    const own = new Set<string>();
    for (const word of splitWords(passage.text)) if (word.paired || !language.stopWords.has(word.folded)) own.add(toTerm(word, language));
    for (const term of own) {
      const frequency = index.find(term)?.count ?? 0;
      if (known.has(term) || frequency < 2 || frequency > index.size / 15) continue;
      sums.set(term, (sums.get(term) ?? 0) + (score / top) * Math.log(index.size / frequency));
    }
  }
  const chosen = [...sums].sort(([, a], [, b]) => b - a).slice(0, w.feedbackTerms);
  const maxSum = chosen[0]?.[1] ?? 1;
  return chosen.map(([term, sum]) => ({ word: null, terms: [{ term, weight: 1 }], weight: (w.feedback * sum) / maxSum }));
}
