import { defineModule } from '../../system/modules.ts';
import type { ForgettingDeps } from './forgetting.ts';

/** Forgetting permanently. It is loaded by use, and if another device has forgotten something. */
export const forgettingModule = defineModule<ForgettingDeps>()({
  name: 'forgetting',
  needs: ['vault', 'bridge', 'clock', 'hub', 'labels', 'memories', 'longTermMemories', 'provenance', 'replyRecall', 'log'],
  load: async (needs) => new (await import('./forgetting.ts')).Forgetting(needs),
  wakeOn: {
    changes: ['forgettings'],
    if: async ({ vault }) => {
      const records = await vault.collection('forgettings').list();
      if (records.length === 0) return false;
      const done = await (await vault.forgetting()).readForgotten();
      return records.some(({ id, isComplete }) => isComplete && !done.has(id));
    },
  },
  refresh: (forgetting) => forgetting.cleanReplica(),
  onChanges: (forgetting) => forgetting.cleanReplica(),
});
