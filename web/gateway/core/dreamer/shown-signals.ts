import type { DreamSignal } from '#shared/rpc/methods/dreaming.ts';
import type { MethodParsed } from '#shared/rpc/methods/index.ts';
import { withBorrowedRecalls } from '../dreaming/borrowed-recalls.ts';
import type { DreamingConfig } from '../dreaming/config.ts';
import type { Pace } from '../dreaming/pace.ts';
import type { Promotion } from '../dreaming/promotion-log.ts';
import { PromotionScorer } from '../dreaming/promotion-scorer.ts';
import { queriesOf } from '../dreaming/score-components.ts';
import { DAY_MS, lastActive, normalized, type ShortTermSignal } from '../dreaming/signal.ts';

export interface ShownDeps {
  signals: readonly ShortTermSignal[];
  promotions: ReadonlyMap<string, Promotion>;
  config: DreamingConfig;
  now: number;
  pace: Pace;
}

/** Signals with their scores from the deep phase and their status, highest score first. */
export async function shownSignals(
  { signals, promotions, config, now, pace }: ShownDeps,
  { query, state, limit, offset }: Pick<MethodParsed<'dreaming.signals'>, 'query' | 'state' | 'limit' | 'offset'>,
): Promise<{ signals: DreamSignal[]; total: number }> {
  const scorer = new PromotionScorer(config, { now: () => now });
  const words = normalized(query);
  const shown: DreamSignal[] = [];
  for (const signal of await withBorrowedRecalls(signals, pace)) {
    await pace();
    if (words !== '' && !normalized(`${signal.content} ${signal.sourceRef}`).includes(words)) continue;
    const { score, components } = scorer.scoreSignal(signal);
    const standing = standingOf(signal, promotions.get(signal.contentHash), score, config, now);
    if (state !== 'all' && standing.state !== state) continue;
    const { contentHash, content, sourceRef, tags, createdAt, recallCount, recalls } = signal;
    shown.push({
      ...{ contentHash, content, sourceRef, tags, createdAt, score, ...standing },
      lastAt: lastActive(signal),
      recalls: recallCount,
      queries: queriesOf(signal).size,
      lastQuery: recalls.at(-1)?.query ?? '',
      components: components.toDict(),
    });
  }
  shown.sort((a, b) => b.score - a.score || (a.contentHash < b.contentHash ? -1 : 1));
  return { signals: shown.slice(offset, offset + limit), total: shown.length };
}

function standingOf(
  signal: ShortTermSignal,
  promotion: Promotion | undefined,
  score: number,
  config: DreamingConfig,
  now: number,
): Pick<DreamSignal, 'state' | 'why'> {
  if (promotion) return { state: promotion.state === 'promoting' ? 'promoted' : promotion.state };
  if (signal.untrusted !== undefined) return { state: 'untrusted', why: signal.untrusted };
  const { minRecallCount, minUniqueQueries, minScore, maxAgeDays } = config;
  const queries = queriesOf(signal).size;
  const lacks = [
    ...(signal.recallCount < minRecallCount ? [`recalled ${signal.recallCount} of ${minRecallCount} times`] : []),
    ...(queries < minUniqueQueries ? [`matched by ${queries} of ${minUniqueQueries} queries`] : []),
    ...(lastActive(signal) < now - maxAgeDays * DAY_MS ? [`older than ${maxAgeDays} days`] : []),
    ...(score < minScore ? [`score below ${minScore}`] : []),
  ];
  return lacks.length === 0 ? { state: 'ready' } : { state: 'short', why: lacks.join('; ') };
}
