import { detachedBridge } from '../../ports/bridge-interface.ts';
import { defineModule } from '../../system/modules.ts';
import type { AccessDeps } from './access.ts';

/** Devices and keys. The bridge must know who may connect, even if no client asks for it here. */
export const accessModule = defineModule<AccessDeps>()({
  name: 'access',
  needs: ['vault', 'clock', 'bridge', 'sync', 'connections', 'runs', 'budgets', 'fault'],
  load: async (needs) => (await import('./access.ts')).openAccess(needs),
  wakeOn: { if: ({ bridge }) => bridge !== detachedBridge },
  stop: (access) => access.stop(),
});
