import type { FoundMemory } from '../memory/found-memory.ts';
import type { Workspace } from '../memory/workspace.ts';
import type { DreamingConfig } from './config.ts';
import { unhurried } from './pace.ts';
import { RecalledPlaces } from './recalled-places.ts';
import { saysSomething } from './says-something.ts';
import type { Noted, SignalsStore } from './signals-store.ts';

interface SearchSignalsDeps {
  workspace: Workspace;
  signals: Pick<SignalsStore, 'note'>;
}

/**
 * Records search results from notes and conversations as recalls, which dreaming scores. Results already in the long-term file are left
 * out. Undefined if dreaming is off.
 */
export function createSearchSignals(
  config: Pick<DreamingConfig, 'enabled'>,
  { workspace, signals }: SearchSignalsDeps,
): ((query: string, found: readonly FoundMemory[]) => Promise<void>) | undefined {
  if (!config.enabled) return undefined;
  return async (query, found) => {
    if (query.trim() === '') return;
    const places = new RecalledPlaces(workspace, unhurried);
    const noted: Noted[] = [];
    for (const { kind, text, path, lines, coverage } of found) {
      if (kind === 'memory') continue;
      const place = await places.find({ text, source: `${path}#L${lines}` });
      if (place && saysSomething(place.content)) noted.push({ ...place, query, score: coverage });
    }
    if (noted.length > 0) await signals.note(noted);
  };
}
