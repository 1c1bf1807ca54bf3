import type { DreamSignal } from '#shared/rpc/methods/dreaming-contracts.ts';
import type { MethodParsed } from '#shared/rpc/methods/index.ts';
import { inheritRecalls } from '../../../knowledge/dreaming/inherited-recalls.ts';
import type { DreamingConfig } from '../../../knowledge/dreaming/dreaming-config.ts';
import type { Pace } from '../../../knowledge/dreaming/pace.ts';
import type { Promotion } from '../../../knowledge/dreaming/promotion-log.ts';
import { PromotionScorer } from '../../../knowledge/dreaming/promotion-scorer.ts';
import { getQueries } from '../../../knowledge/dreaming/score-components.ts';
import { DAY_MS, getLastActive, normalizeText, type ShortTermSignal } from '../../../knowledge/dreaming/signal.ts';

export interface ListSignalsDeps {
  signals: readonly ShortTermSignal[];
  promotions: ReadonlyMap<string, Promotion>;
  config: DreamingConfig;
  now: number;
  pace: Pace;
}

/** Signals with their scores from the deep phase and their status, highest score first. */
export async function listSignals(
  { signals, promotions, config, now, pace }: ListSignalsDeps,
  { query, state, limit, offset }: Pick<MethodParsed<'dreaming.signals'>, 'query' | 'state' | 'limit' | 'offset'>,
): Promise<{ signals: DreamSignal[]; total: number }> {
  const scorer = new PromotionScorer(config, { now: () => now });
  const words = normalizeText(query);
  const listed: DreamSignal[] = [];
  for (const signal of await inheritRecalls(signals, pace)) {
    await pace();
    if (words !== '' && !normalizeText(`${signal.content} ${signal.sourceRef}`).includes(words)) continue;
    const { score, components } = scorer.scoreSignal(signal);
    const signalState = computeSignalState(signal, promotions.get(signal.contentHash), score, config, now);
    if (state !== 'all' && signalState.state !== state) continue;
    const { contentHash, content, sourceRef, tags, createdAt, recallCount, recalls } = signal;
    listed.push({
      ...{ contentHash, content, sourceRef, tags, createdAt, score, ...signalState },
      lastAt: getLastActive(signal),
      recalls: recallCount,
      queries: getQueries(signal).size,
      lastQuery: recalls.at(-1)?.query ?? '',
      components: components.toDict(),
    });
  }
  listed.sort((a, b) => b.score - a.score || (a.contentHash < b.contentHash ? -1 : 1));
  return { signals: listed.slice(offset, offset + limit), total: listed.length };
}

function computeSignalState(
  signal: ShortTermSignal,
  promotion: Promotion | undefined,
  score: number,
  config: DreamingConfig,
  now: number,
): Pick<DreamSignal, 'state' | 'why'> {
  if (promotion) return { state: promotion.state === 'promoting' ? 'promoted' : promotion.state };
  if (signal.untrusted !== undefined) return { state: 'untrusted', why: signal.untrusted };
  const { minRecallCount, minUniqueQueries, minScore, maxAgeDays } = config;
  const queries = getQueries(signal).size;
  const shortfalls = [
    ...(signal.recallCount < minRecallCount ? [`recalled ${signal.recallCount} of ${minRecallCount} times`] : []),
    ...(queries < minUniqueQueries ? [`matched by ${queries} of ${minUniqueQueries} queries`] : []),
    ...(getLastActive(signal) < now - maxAgeDays * DAY_MS ? [`older than ${maxAgeDays} days`] : []),
    ...(score < minScore ? [`score below ${minScore}`] : []),
  ];
  return shortfalls.length === 0 ? { state: 'ready' } : { state: 'short', why: shortfalls.join('; ') };
}
