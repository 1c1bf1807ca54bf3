import { TRASH_MS } from '#shared/trash-retention.ts';
import { defineModule } from '../../system/modules.ts';
import type { TrashDeps } from './trash.ts';

/** Milliseconds between searches for expired items. */
const CHECK_MS = 3_600_000;

/** The trash. It is loaded by the first deletion, and by items that have expired. */
export const trashModule = defineModule<TrashDeps>()({
  name: 'trash',
  needs: ['vault', 'hub', 'clock', 'labels', 'agents', 'drawings', 'memories', 'longTermMemories', 'wikis'],
  load: async (needs) => new (await import('./trash.ts')).Trash(needs),
  wakeOn: {
    every: CHECK_MS,
    if: async ({ vault, clock }) => (await (await vault.trash()).list()).some(({ deletedAt }) => clock.now() - deletedAt >= TRASH_MS),
  },
  refresh: (trash) => trash.empty({ onlyExpired: true }),
});
