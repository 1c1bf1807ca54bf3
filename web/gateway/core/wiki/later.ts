import { lazy } from '../lazy.ts';
import type { Tool } from '../tools/registry.ts';
import type { ContentLabels } from '../trust/labels.ts';
import type { Wikis, WikisDeps } from './wikis.ts';

/** The wikis, whose code is loaded on first use. */
export interface WikisLater {
  load(): Promise<Wikis>;
  tools(labels: ContentLabels): Promise<readonly Tool[]>;
  stop(): void;
}

export function wikisLater(deps: WikisDeps): WikisLater {
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
    tools: async (labels) => (await import('./wiki-tools.ts')).wikiTools({ wikis: load, labels }),
    stop() {
      stopped = true;
      wikis?.stop();
    },
  };
}
