import { defineModule } from '../../system/modules.ts';
import type { AgentToolkitDeps } from './agent-toolkit.ts';

/** Files, plans and skills for agents. */
export const agentToolkitModule = defineModule<AgentToolkitDeps>()({
  name: 'agentToolkit',
  needs: ['vault', 'hub', 'clock', 'bridge', 'agents', 'runs', 'labels', 'settings', 'deliverPlan', 'fault'],
  load: async (needs) => (await import('./agent-toolkit.ts')).openAgentToolkit(needs),
});
