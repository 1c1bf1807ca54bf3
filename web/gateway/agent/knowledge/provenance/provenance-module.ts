import { defineModule } from '../../../system/modules.ts';
import type { ProvenanceDeps } from './provenance.ts';

/** Origins of memories, daily summaries, claims and dreams. */
export const provenanceModule = defineModule<ProvenanceDeps>()({
  name: 'provenance',
  needs: ['vault', 'clock'],
  load: async (needs) => new (await import('./provenance.ts')).Provenance(needs),
});
