import type { EventBus } from '../../../system/event-bus.ts';
import type { Vault } from '../../../storage/vault-interface.ts';
import { lazy } from '#shared/async/lazy.ts';
import type { AgentMemories, AgentMemoriesDeps } from './agent-memories.ts';
import type { Providers } from '../../../providers/providers.ts';
import type { Settings } from '../../../config/settings-schema.ts';
import type { Embedder } from '../../../knowledge/memory/vectors/passage-vectors.ts';
import type { LongTermMemories } from './long-term-memories.ts';

/** Name under which embedding calls appear in the usage. */
const MEMORY_PRINCIPAL = 'memory';
/** Paths of files whose changes affect memory. */
const MEMORY_FILE = /^(?:MEMORY\.md$|memory\/)/;

export interface LazyMemories {
  /** Loads the long-term files only, without the search. */
  longTerm(): Promise<LongTermMemories>;
  /** Loads the complete memory, including search. */
  load(): Promise<AgentMemories>;
  stop(): void;
}

export interface LazyMemoriesDeps extends Omit<AgentMemoriesDeps, 'longTerm' | 'embedder'> {
  vault: AgentMemoriesDeps['vault'] & Pick<Vault, 'onRemoteChanges' | 'usage'>;
  hub: EventBus;
  settings(): Settings;
  models: Pick<Providers, 'resolve'>;
}

/** Memories of agents, loaded on first use. Every change is announced to clients, whoever makes it. */
export function createLazyMemories({ hub, settings, models, ...deps }: LazyMemoriesDeps): LazyMemories {
  const longTerm = lazy(async () => new (await import('./long-term-memories.ts')).LongTermMemories(deps));
  const load = lazy(async () => {
    const [{ AgentMemories }, { createProviderEmbedder }] = await Promise.all([
      import('./agent-memories.ts'),
      import('./vectors/provider-embedder.ts'),
    ]);
    const { vault, clock } = deps;
    const embedder = (): Embedder | undefined => {
      const { model } = settings().memory.embeddings;
      if (model === null) return undefined;
      return createProviderEmbedder(model, {
        providers: models,
        onUsage: (call) =>
          vault.usage.add({
            id: crypto.randomUUID(),
            at: clock.now(),
            sessionKey: null,
            principal: MEMORY_PRINCIPAL,
            purpose: 'embedding',
            ...call,
          }),
      });
    };
    return new AgentMemories({ ...deps, embedder, longTerm: await longTerm() });
  });
  const notify = (workspace: string, path: string): void => {
    if (MEMORY_FILE.test(path)) hub.emit({ event: 'memory.changed', payload: { workspace } }, null);
  };
  const stops = [
    deps.vault.files.watch(({ workspace, path }) => notify(workspace, path)),
    deps.vault.onRemoteChanges((changes) => {
      for (const { store, key } of changes) if (store === 'files') notify(...splitFileKey(key));
    }),
  ];
  return {
    longTerm,
    load,
    stop() {
      for (const stop of stops) stop();
    },
  };
}

/** Splits `<workspace>/<path>`. */
function splitFileKey(key: string): [workspace: string, path: string] {
  const index = key.indexOf('/');
  return [key.slice(0, index), key.slice(index + 1)];
}
