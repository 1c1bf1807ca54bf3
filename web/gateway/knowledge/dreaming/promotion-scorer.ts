import { DreamingConfig, type DreamingConfigInput } from './dreaming-config.ts';
import type { Pace } from './pace.ts';
import { computeComponents, getQueries, type ScoreComponents } from './score-components.ts';
import { DAY_MS, getLastActive, type ShortTermSignal } from './signal.ts';

export interface Candidate {
  signal: ShortTermSignal;
  /** 0 to 1. */
  score: number;
  components: ScoreComponents;
}

/** Scores signals for promotion to the long-term memory. */
export class PromotionScorer {
  readonly #config: DreamingConfig;
  readonly #now: () => number;

  /** Throws an Error that names the invalid setting. */
  constructor(
    config: DreamingConfig | DreamingConfigInput | Record<string, unknown> = {},
    { now = Date.now }: { now?: () => number } = {},
  ) {
    this.#config = config instanceof DreamingConfig ? config : new DreamingConfig(config);
    this.#now = now;
  }

  scoreSignal(signal: ShortTermSignal): { score: number; components: ScoreComponents } {
    const components = computeComponents(signal, this.#now(), this.#config.recencyHalfLifeDays);
    return { score: components.weighed(this.#config.scoringWeights), components };
  }

  /** Signals eligible for promotion, highest score first, at most `limit`. `minScore` overrides the setting. */
  filterCandidates(signals: readonly ShortTermSignal[], minScore = this.#config.minScore): Candidate[] {
    return this.rank(signals, minScore).slice(0, this.#config.limit);
  }

  /** Like `filterCandidates`, but without the limit. */
  rank(signals: readonly ShortTermSignal[], minScore = this.#config.minScore): Candidate[] {
    return sortByScore(signals.flatMap((signal) => this.#candidate(signal, minScore) ?? []));
  }

  /** Like `rank`, but yields to other tasks. */
  async rankInSlices(signals: readonly ShortTermSignal[], pace: Pace): Promise<Candidate[]> {
    const found: Candidate[] = [];
    for (const signal of signals) {
      const candidate = this.#candidate(signal, this.#config.minScore);
      if (candidate) found.push(candidate);
      await pace();
    }
    return sortByScore(found);
  }

  #candidate(signal: ShortTermSignal, minScore: number): Candidate | undefined {
    const { minRecallCount, minUniqueQueries, maxAgeDays } = this.#config;
    const from = this.#now() - maxAgeDays * DAY_MS;
    if (signal.untrusted !== undefined || signal.recallCount < minRecallCount || getLastActive(signal) < from) return undefined;
    if (getQueries(signal).size < minUniqueQueries) return undefined;
    const candidate = { signal, ...this.scoreSignal(signal) };
    return candidate.score >= minScore ? candidate : undefined;
  }
}

const sortByScore = (candidates: Candidate[]): Candidate[] =>
  candidates.sort((a, b) => b.score - a.score || (a.signal.contentHash < b.signal.contentHash ? -1 : 1));
