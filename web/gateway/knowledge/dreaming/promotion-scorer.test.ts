import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { type ComponentName, COMPONENTS, DreamingConfig } from './dreaming-config.ts';
import { PromotionScorer } from './promotion-scorer.ts';
import * as formulas from './score-components.ts';
import { DAY_MS, type Recall, type ShortTermSignal } from './signal.ts';

const NOW = Date.UTC(2026, 10, 22, 12);
const scorer = (given: ConstructorParameters<typeof DreamingConfig>[0] = {}): PromotionScorer =>
  new PromotionScorer(new DreamingConfig(given), { now: () => NOW });
const recall = (query: string, daysAgo: number, score: number): Recall => {
  const at = NOW - daysAgo * DAY_MS;
  return { query, score, at, day: new Date(at).toISOString().slice(0, 10) };
};
const signal = (recalls: Recall[], more: Partial<ShortTermSignal> = {}): ShortTermSignal => ({
  content: 'Miso is the cat of Ana',
  sourceRef: 'memory/2026-11-20.md',
  query: '',
  tags: [],
  contentHash: 'a'.repeat(64),
  createdAt: NOW - 40 * DAY_MS,
  recallCount: recalls.length,
  recalls: recalls.sort((a, b) => a.at - b.at),
  consolidations: 0,
  consolidationDays: [],
  ...more,
});

const share = fc.double({ min: 0, max: 1, noNaN: true });
const components = fc.record<Record<ComponentName, number>>({
  frequency: share,
  relevance: share,
  diversity: share,
  recency: share,
  consolidation: share,
  conceptual: share,
});
const anySignal = fc
  .record({
    recalls: fc.array(fc.tuple(fc.string(), fc.double({ min: -5, max: 400, noNaN: true }), share), { maxLength: 20 }),
    recallCount: fc.nat(1_000_000),
    tags: fc.array(fc.string(), { maxLength: 12 }),
    createdAt: fc.integer({ min: 0, max: NOW * 2 }),
    consolidationDays: fc.array(fc.constantFrom('2020-01-01', '2026-11-01', '2026-11-22'), { maxLength: 3 }),
  })
  .map(({ recalls, ...more }) =>
    signal(
      recalls.map((each) => recall(...each)),
      more,
    ),
  );

describe('PromotionScorer', () => {
  verifies('dreaming.score/formulas', 'the components are as decided', () => {
    const given = signal([recall('cat', 8, 0.9), recall('CAT ', 8, 0.5), recall('whose pet', 1, 0.7)], { tags: ['miso', 'ana', 'miso'] });
    const { score, components } = scorer().scoreSignal(given);
    const values = components.toDict();
    expect(Object.keys(values)).toEqual(COMPONENTS);
    expect(values.frequency).toBeCloseTo(Math.log(4) / Math.log(11), 12);
    expect(values.relevance).toBeCloseTo(0.7, 12);
    expect(values.diversity).toBeCloseTo(2 / 5, 12);
    expect(values.recency).toBeCloseTo(0.5 ** (1 / 7), 12);
    expect(values.consolidation).toBeCloseTo((0.55 * Math.log(2)) / Math.log(5) + 0.45, 12);
    expect(values.conceptual).toBeCloseTo(2 / 6, 12);
    expect(score).toBeCloseTo(
      0.25 * values.frequency + 0.2 * 0.7 + 0.15 * 0.4 + 0.15 * values.recency + 0.15 * values.consolidation + 0.1 * values.conceptual,
      12,
    );
    expect(scorer().scoreSignal(signal([])).components.toDict()).toMatchObject({
      frequency: 0,
      relevance: 0,
      diversity: 0,
      consolidation: 0,
    });
    expect(scorer().scoreSignal(signal([recall('a', 0, 1)])).components.consolidation).toBe(0.2);
    expect(scorer().scoreSignal(signal([], { consolidationDays: ['2026-11-01'] })).components.consolidation).toBe(0.2);
    expect(
      scorer({ scoringWeights: { frequency: 0, relevance: 0, diversity: 0, consolidation: 0, conceptual: 0, recency: 8 } }).scoreSignal(
        given,
      ).score,
    ).toBe(values.recency);
  });

  verifies('dreaming.score/bounds', 'scores stay within 0 and 1, and rise with each component', () => {
    const weights = fc.record({
      frequency: share,
      relevance: share,
      diversity: share,
      recency: share,
      consolidation: share,
      conceptual: fc.constant(0.1),
    });
    fc.assert(
      fc.property(anySignal, weights, (given, scoringWeights) => {
        const { score, components } = scorer({ scoringWeights }).scoreSignal(given);
        for (const value of [score, ...Object.values(components.toDict())]) expect(value >= 0 && value <= 1, String(value)).toBe(true);
      }),
    );
    fc.assert(
      fc.property(components, weights, fc.constantFrom(...COMPONENTS), share, (values, scoringWeights, name, other) => {
        const { scoringWeights: normal } = new DreamingConfig({ scoringWeights });
        const [less, more] = [Math.min(values[name], other), Math.max(values[name], other)];
        const score = (value: number): number => new formulas.ScoreComponents({ ...values, [name]: value }).weighed(normal);
        expect(score(more)).toBeGreaterThanOrEqual(score(less));
        if (normal[name] > 0.01 && more - less > 0.01 && score(more) < 1) expect(score(more)).toBeGreaterThan(score(less));
      }),
    );
    fc.assert(
      fc.property(fc.nat(50), fc.nat(50), fc.nat(50), (a, b, half) => {
        const [less, more] = [Math.min(a, b), Math.max(a, b)];
        expect(formulas.computeFrequency(more)).toBeGreaterThanOrEqual(formulas.computeFrequency(less));
        expect(formulas.computeDiversity(more, half)).toBeGreaterThanOrEqual(formulas.computeDiversity(less, half));
        expect(formulas.computeDiversity(half, more)).toBeGreaterThanOrEqual(formulas.computeDiversity(half, less));
        expect(formulas.computeRecency(less, half + 1)).toBeGreaterThanOrEqual(formulas.computeRecency(more, half + 1));
        expect(formulas.computeConceptual(more)).toBeGreaterThanOrEqual(formulas.computeConceptual(less));
        // Minimum span of this number of days.
        expect(formulas.computeConsolidation(more, more + half)).toBeGreaterThanOrEqual(
          formulas.computeConsolidation(less, less === 0 ? 0 : less - 1 + half * Number(less > 1)),
        );
      }),
    );
  });

  verifies('dreaming.score/filter', 'candidates come by score and within all limits', () => {
    const good = (name: string, more: Partial<ShortTermSignal> = {}): ShortTermSignal =>
      signal([recall('a', 3, 1), recall('b', 1, 1), recall('c', 0, 1)], {
        contentHash: name.padEnd(64, '0'),
        tags: [...'abcdef'],
        ...more,
      });
    const all = [
      good('1', { tags: [] }),
      good('2'),
      good('3', { recallCount: 1 }),
      good('4', { recalls: [recall('a', 0, 1), recall('A', 0, 1)] }),
      good('5', { recalls: [recall('a', 31, 1), recall('b', 32, 1)] }),
      good('6', { untrusted: 'it comes from a tool result' }),
      good('7', { tags: ['one'] }),
    ];
    const names = (candidates: { signal: ShortTermSignal }[]): string[] => candidates.map(({ signal }) => signal.contentHash.charAt(0));
    expect(names(scorer().filterCandidates(all))).toEqual(['2', '7', '1']);
    expect(names(scorer({ limit: 1 }).filterCandidates(all))).toEqual(['2']);
    expect(names(scorer({ minRecallCount: 1 }).filterCandidates(all))).toEqual(expect.arrayContaining(['3']));
    expect(names(scorer({ minUniqueQueries: 1 }).filterCandidates(all))).toEqual(expect.arrayContaining(['4']));
    expect(names(scorer({ maxAgeDays: 90, minScore: 0 }).filterCandidates(all))).toEqual(expect.arrayContaining(['5']));
    const [best, second] = scorer().filterCandidates(all);
    expect(names(scorer().filterCandidates(all, best?.score))).toEqual(['2']);
    expect(best?.score).toBeGreaterThan(second?.score ?? 1);
  });
});
