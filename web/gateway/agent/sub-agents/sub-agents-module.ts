import { defineModule } from '../../system/modules.ts';
import type { SubAgentsDeps } from './sub-agents.ts';

/** Sub-agents. Loaded when the first one is started, or when those of a chat are listed. */
export const subAgentsModule = defineModule<SubAgentsDeps>()({
  name: 'subAgents',
  needs: ['vault', 'hub', 'clock', 'agents', 'runs', 'runDeps', 'tools', 'models', 'labels', 'findSmallModel', 'fault'],
  load: async (needs) => new (await import('./sub-agents.ts')).SubAgents(needs),
  stop: (subAgents) => subAgents.stop(),
});
