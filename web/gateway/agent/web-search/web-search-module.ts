import { defineModule } from '../../system/modules.ts';
import type { WebSearchDeps } from './web-search.ts';

/** Search of the web by the owner's service. */
export const webSearchModule = defineModule<WebSearchDeps>()({
  name: 'webSearch',
  needs: ['config', 'references', 'fetch', 'clock', 'vault', 'providers', 'models'],
  load: async (needs) => new (await import('./web-search.ts')).WebSearch(needs),
});
