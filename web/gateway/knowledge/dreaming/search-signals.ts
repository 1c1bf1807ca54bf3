import type { FoundMemory } from '../memory/found-memory.ts';
import type { Workspace } from '../memory/workspace.ts';
import type { DreamingConfig } from './dreaming-config.ts';
import { noPace } from './pace.ts';
import { RecallSourceFinder } from './recall-sources.ts';
import { isInformative } from './is-informative.ts';
import type { SignalInput, SignalsStore } from './signals-store.ts';

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
    const sources = new RecallSourceFinder(workspace, noPace);
    const inputs: SignalInput[] = [];
    for (const { kind, text, path, lines, coverage } of found) {
      if (kind === 'memory') continue;
      const source = await sources.find({ text, source: `${path}#L${lines}` });
      if (source && isInformative(source.content)) inputs.push({ ...source, query, score: coverage });
    }
    if (inputs.length > 0) await signals.note(inputs);
  };
}
