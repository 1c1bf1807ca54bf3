import { defineModule } from '../../../system/modules.ts';
import type { WikisDeps } from './wikis.ts';

/** The wikis of agents. */
export const wikisModule = defineModule<WikisDeps>()({
  name: 'wikis',
  needs: ['vault', 'hub', 'clock', 'agents', 'provenance', 'fault'],
  load: async (needs) => new (await import('./wikis.ts')).Wikis(needs),
  stop: (wikis) => wikis.stop(),
});
