import type { Hub } from '../hub.ts';
import type { Vault } from '../vault.ts';
import { lazy } from '../lazy.ts';
import type { AgentMemories, AgentMemoriesDeps } from './agent-memories.ts';
import type { Providers } from '../providers/providers.ts';
import type { Settings } from '../settings.ts';
import type { Embedder } from './vectors/vectors.ts';
import type { LongTermMemories } from './long-term-memories.ts';

/** Name under which embedding calls appear in the usage. */
const MEMORY = 'memory';
/** Paths of files whose changes affect memory. */
const REMEMBERED = /^(?:MEMORY\.md$|memory\/)/;

export interface Memories {
  /** Loads the long-term files only, without the search. */
  longTerm(): Promise<LongTermMemories>;
  /** Loads the complete memory, including search. */
  load(): Promise<AgentMemories>;
  stop(): void;
}

export interface MemoriesDeps extends Omit<AgentMemoriesDeps, 'longTerm' | 'embedder'> {
  vault: AgentMemoriesDeps['vault'] & Pick<Vault, 'onforeign' | 'usage'>;
  hub: Hub;
  settings(): Settings;
  models: Pick<Providers, 'resolve'>;
}

/** Memories of agents, loaded on first use. Every change is announced to clients, whoever makes it. */
export function memoriesLater({ hub, settings, models, ...deps }: MemoriesDeps): Memories {
  const longTerm = lazy(async () => new (await import('./long-term-memories.ts')).LongTermMemories(deps));
  const load = lazy(async () => {
    const [{ AgentMemories }, { providerEmbedder }] = await Promise.all([
      import('./agent-memories.ts'),
      import('./vectors/provider-embedder.ts'),
    ]);
    const { vault, clock } = deps;
    const embedder = (): Embedder | undefined => {
      const { model } = settings().memory.embeddings;
      if (model === null) return undefined;
      return providerEmbedder(model, {
        providers: models,
        used: (call) =>
          vault.usage.add({ id: crypto.randomUUID(), at: clock.now(), sessionKey: null, principal: MEMORY, purpose: 'embedding', ...call }),
      });
    };
    return new AgentMemories({ ...deps, embedder, longTerm: await longTerm() });
  });
  const told = (workspace: string, path: string): void => {
    if (REMEMBERED.test(path)) hub.emit({ event: 'memory.changed', payload: { workspace } }, null);
  };
  const stops = [
    deps.vault.files.watch(({ workspace, path }) => told(workspace, path)),
    deps.vault.onforeign((changes) => {
      for (const { store, key } of changes) if (store === 'files') told(...placeOf(key));
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
function placeOf(key: string): [workspace: string, path: string] {
  const at = key.indexOf('/');
  return [key.slice(0, at), key.slice(at + 1)];
}
