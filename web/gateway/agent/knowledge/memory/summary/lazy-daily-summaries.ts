import { lazy } from '#shared/async/lazy.ts';
import type { DailySummariesDeps } from './daily-summaries.ts';

/** Summarises the past days of an agent; loads the code on first use. See `DailySummaries.summarisePastDays`. */
export function createLazyDailySummaries(deps: DailySummariesDeps): (agentId: string) => Promise<void> {
  const load = lazy(async () => new (await import('./daily-summaries.ts')).DailySummaries(deps));
  return async (agentId) => (await load()).summarisePastDays(agentId);
}
