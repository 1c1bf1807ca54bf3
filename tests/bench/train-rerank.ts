// `node tests/bench/train-rerank.ts`: trains the weights of `rerank-weights.ts` and prints them. Uses the conversations that are not held
// back, and every other question of the judged ones. Deterministic.
import { FEATURES } from '../../web/gateway/knowledge/memory/search/features.ts';
import { findCandidates } from '../../web/gateway/knowledge/memory/search/memory-search.ts';
import { conversations } from './memory-search-bench.ts';
import { minimize } from './minimize.ts';
import { generateConversations } from './questions/generate-conversations.ts';
import { type IndexedConversation, indexConversation } from './questions/index-conversation.ts';

/** Candidates of a question. */
interface Group {
  rows: { features: Float64Array; isEvidence: boolean }[];
  weight: number;
}

/** How much more a judged question counts than a generated one, of which there are five times as many. */
const JUDGED_WEIGHT = 6;
/** Strength of the pull towards 0 (L2). */
const SHRINKAGE = 0.002;

const weights = train([
  ...generateConversations()
    .filter(({ isHeldBack }) => !isHeldBack)
    .flatMap((each) => toGroups(each, 1)),
  ...conversations().flatMap((each) =>
    toGroups({ ...each, questions: each.questions.filter((_, index) => index % 2 === 0) }, JUDGED_WEIGHT),
  ),
]);
for (const [index, feature] of FEATURES.entries()) console.log(`  ${feature}: ${(weights[index] ?? 0).toFixed(2)},`);

interface Judged extends IndexedConversation {
  questions: readonly { question: string; evidence: readonly string[]; askedAt: string }[];
}

function toGroups({ questions, ...conversation }: Judged, weight: number): Group[] {
  const index = indexConversation(conversation);
  return questions.map(({ question, evidence, askedAt }) => {
    const { ranked, features } = findCandidates(index, question, { limit: 10, now: Date.parse(askedAt) });
    const isEvidence = (nth: number): boolean => evidence.includes(index.passage(ranked[nth]?.number ?? -1)?.id ?? '');
    return { rows: features.map((row, nth) => ({ features: row, isEvidence: isEvidence(nth) })), weight };
  });
}

/** Minimizes the cross-entropy between the softmax of the candidates' values and the evidence. */
function train(groups: readonly Group[]): Float64Array {
  const useful = groups.filter(({ rows }) => rows.some(({ isEvidence }) => isEvidence));
  const total = useful.reduce((sum, { weight }) => sum + weight, 0);
  return minimize(FEATURES.length, (values, gradient) => {
    for (const [i, value] of values.entries()) gradient[i] = SHRINKAGE * value;
    for (const { rows, weight } of useful) {
      const scores = rows.map(({ features }) => features.reduce((sum, each, i) => sum + each * (values[i] ?? 0), 0));
      const max = Math.max(...scores);
      const exponents = scores.map((score) => Math.exp(score - max));
      const sum = exponents.reduce((a, b) => a + b, 0);
      const count = rows.filter(({ isEvidence }) => isEvidence).length;
      for (const [nth, { features, isEvidence }] of rows.entries()) {
        const difference = (((exponents[nth] ?? 0) / sum - (isEvidence ? 1 / count : 0)) * weight) / total;
        for (const [i, feature] of features.entries()) gradient[i] = (gradient[i] ?? 0) + difference * feature;
      }
    }
  });
}
