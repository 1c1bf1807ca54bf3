import { lazy } from '../../lazy.ts';
import type { DailySummariesDeps } from './daily-summaries.ts';

/** Summarises the past days of an agent; loads the code on first use. See `DailySummaries.of`. */
export function dailySummariesLater(deps: DailySummariesDeps): (agentId: string) => Promise<void> {
  const load = lazy(async () => new (await import('./daily-summaries.ts')).DailySummaries(deps));
  return async (agentId) => (await load()).of(agentId);
}
