// `node tests/bench/train-fit.ts`: trains the weights of `fit-weights.ts`, prints them, and what thresholds would do. Uses only conversations
// that are not held back. Deterministic.
import { computeFitSignals, FIT_SIGNALS } from '../../web/gateway/knowledge/memory/search/fit.ts';
import type { MemoryIndex } from '../../web/gateway/knowledge/memory/search/memory-index.ts';
import { findCandidates } from '../../web/gateway/knowledge/memory/search/memory-search.ts';
import { rerank } from '../../web/gateway/knowledge/memory/search/rerank.ts';
import { generateConversations, type OwnConversation, type OwnQuestion } from './questions/generate-conversations.ts';
import { minimize } from './minimize.ts';
import { indexConversation } from './questions/index-conversation.ts';

interface Sample {
  signals: Float64Array;
  isAnswered: boolean;
  weight: number;
}

const LIMIT = 10;
/** Weights of questions that no turn answers: those of the generator, and those whose answer was removed. */
const UNANSWERABLE_WEIGHT = 3;
const REMOVED_WEIGHT = 0.3;
/** Strength of the pull towards 0 (L2). */
const SHRINKAGE = 0.002;
const THRESHOLDS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6];

const samples = generateConversations()
  .filter(({ isHeldBack }) => !isHeldBack)
  .flatMap((conversation) => [...listSamples(conversation, false), ...listSamples(conversation, true)]);
const { weights, bias } = train(samples);
for (const [i, signal] of FIT_SIGNALS.entries()) console.log(`  '${signal}': ${(weights[i] ?? 0).toFixed(2)},`);
console.log(`bias ${bias.toFixed(2)}`);
for (const threshold of THRESHOLDS) {
  const rate = (isAnswered: boolean): string => {
    const all = samples.filter((sample) => sample.isAnswered === isAnswered);
    return ((100 * all.filter(({ signals }) => predict(signals) < threshold).length) / all.length).toFixed(1);
  };
  console.error(`below ${threshold}: ${rate(false)} % of unanswered, ${rate(true)} % of answered`);
}

function listSamples(conversation: OwnConversation, asLines: boolean): Sample[] {
  const index = indexConversation(conversation, { asLines });
  const ask = (searched: MemoryIndex, { question, askedAt }: OwnQuestion): { signals: Float64Array; ids: string[] } => {
    const { ranked, words, ...rest } = findCandidates(searched, question, { limit: LIMIT, now: Date.parse(`${askedAt}Z`) });
    const best = rerank(searched, ranked, { ...rest, limit: LIMIT });
    return { signals: computeFitSignals(best, words), ids: best.flatMap(({ number }) => searched.passage(number)?.id ?? []) };
  };
  return [
    ...conversation.questions.map((question): Sample => {
      const { signals, ids } = ask(index, question);
      return { signals, isAnswered: question.evidence.some((id) => ids.includes(id)), weight: 1 };
    }),
    ...conversation.unanswerable.map((question): Sample => {
      return { signals: ask(index, question).signals, isAnswered: false, weight: UNANSWERABLE_WEIGHT };
    }),
    ...conversation.questions.map((question): Sample => {
      const rest = indexConversation(conversation, { asLines, without: [...question.evidence, ...question.stale] });
      return { signals: ask(rest, question).signals, isAnswered: false, weight: REMOVED_WEIGHT };
    }),
  ];
}

/** Minimizes the cross-entropy of a logistic regression. */
function train(all: readonly Sample[]): { weights: Float64Array; bias: number } {
  const size = FIT_SIGNALS.length;
  const total = all.reduce((sum, { weight }) => sum + weight, 0);
  const values = minimize(size + 1, (current, gradient) => {
    for (let i = 0; i < size; i++) gradient[i] = SHRINKAGE * (current[i] ?? 0);
    for (const { signals, isAnswered, weight } of all) {
      const error = ((toProbability(signals, current) - Number(isAnswered)) * weight) / total;
      for (let i = 0; i <= size; i++) gradient[i] = (gradient[i] ?? 0) + error * (signals[i] ?? 1);
    }
  });
  return { weights: values.slice(0, -1), bias: values.at(-1) ?? 0 };
}

function predict(signals: Float64Array): number {
  return toProbability(signals, Float64Array.from([...weights, bias]));
}

/** `values`: the weights, and the bias at the end. */
function toProbability(signals: Float64Array, values: Float64Array): number {
  const sum = values.reduce((total, value, i) => total + value * (signals[i] ?? 1), 0);
  return 1 / (1 + Math.exp(-sum));
}
