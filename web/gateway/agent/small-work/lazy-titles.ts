import { isPerson } from '../../system/person.ts';
import { lazy } from '#shared/async/lazy.ts';
import type { CompletedRun, RunTitles } from '../runs/run-types.ts';
import type { Settings } from '../../config/settings-schema.ts';
import type { TitlesDeps } from './titles.ts';

/** Titles of chats with a person, created in the background; the code is loaded with the first. */
export function createLazyTitles({
  settings,
  fault,
  ...deps
}: TitlesDeps & { settings(): Settings; fault(error: unknown): unknown }): RunTitles & {
  stop(): void;
} {
  const abort = new AbortController();
  const load = lazy(async () => new (await import('./titles.ts')).Titles(deps));
  const make = async (run: CompletedRun): Promise<void> => (await load()).createTitle(run, abort.signal);
  return {
    onReply(run) {
      if (!settings().chat.titles || !isPerson(run.principal) || run.model.startsWith('guide/') || abort.signal.aborted) return;
      make(run).catch(fault);
    },
    stop: () => abort.abort(new Error('The gateway was closed.')),
  };
}
