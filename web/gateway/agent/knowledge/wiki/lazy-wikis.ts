import { lazy } from '#shared/async/lazy.ts';
import type { Tool } from '../../tools/tool-registry.ts';
import type { ContentLabels } from '../../trust/content-labels.ts';
import type { Wikis, WikisDeps } from './wikis.ts';

/** The wikis, whose code is loaded on first use. */
export interface LazyWikis {
  load(): Promise<Wikis>;
  loadTools(labels: ContentLabels): Promise<readonly Tool[]>;
  stop(): void;
}

export function createLazyWikis(deps: WikisDeps): LazyWikis {
  let wikis: Wikis | undefined;
  let stopped = false;
  const load = lazy(async () => {
    const { Wikis } = await import('./wikis.ts');
    wikis = new Wikis(deps);
    if (stopped) wikis.stop();
    return wikis;
  });
  return {
    load,
    loadTools: async (labels) => (await import('./wiki-tools.ts')).wikiTools({ wikis: load, labels }),
    stop() {
      stopped = true;
      wikis?.stop();
    },
  };
}
