import { defineModule } from '../../system/modules.ts';
import type { HooksDeps } from './hooks.ts';

/** Webhooks: needed once there is a hook, or when one is called. */
export const hooksModule = defineModule<HooksDeps>()({
  name: 'hooks',
  needs: [
    'vault',
    'hub',
    'clock',
    'sync',
    'runs',
    'agents',
    'cron',
    'agentToolkit',
    'deliveries',
    'fetch',
    'activeOrigins',
    'log',
    'fault',
  ],
  load: async (needs) => new (await import('./hooks.ts')).Hooks(needs),
  wakeOn: {
    if: async ({ vault }) => (await vault.collection('hooks').keys()).length > 0,
    // Another host may add the first hook.
    changes: ['hooks', 'hookCalls'],
  },
  onChanges: (hooks, changes) => hooks.handleRemoteChanges(changes),
  drain: async (hooks) => hooks.stop(),
  stop: (hooks) => hooks.stop(),
});
