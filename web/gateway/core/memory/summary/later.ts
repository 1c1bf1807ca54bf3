import { lazy } from '../../lazy.ts';
import type { DailySummariesDeps } from './daily-summaries.ts';

/** Summarises the days of an agent that are over; the code is fetched when it is wanted. See `DailySummaries.of`. */
export function dailySummariesLater(deps: DailySummariesDeps): (agentId: string) => Promise<void> {
  const load = lazy(async () => new (await import('./daily-summaries.ts')).DailySummaries(deps));
  return async (agentId) => (await load()).of(agentId);
}
