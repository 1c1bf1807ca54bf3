import { isPerson } from '../approvals/person.ts';
import { lazy } from '../lazy.ts';
import type { RepliedRun, RunTitles } from '../runs/deps.ts';
import type { Settings } from '../settings.ts';
import type { TitlesDeps } from './titles.ts';

/** Titles of chats with a person, created in the background; the code is loaded with the first. */
export function lazyTitles({
  settings,
  fault,
  ...deps
}: TitlesDeps & { settings(): Settings; fault(error: unknown): unknown }): RunTitles & {
  stop(): void;
} {
  const closing = new AbortController();
  const load = lazy(async () => new (await import('./titles.ts')).Titles(deps));
  const make = async (run: RepliedRun): Promise<void> => (await load()).make(run, closing.signal);
  return {
    replied(run) {
      if (!settings().chat.titles || !isPerson(run.principal) || run.model.startsWith('guide/') || closing.signal.aborted) return;
      make(run).catch(fault);
    },
    stop: () => closing.abort(new Error('The gateway was closed.')),
  };
}
