import type { skillContracts } from '#shared/rpc/methods/skill-contracts.ts';
import type { Handlers } from '../dispatch.ts';
import type { AgentToolkit } from '../../agent/agent-toolkit.ts';

export const skillMethods = ({
  agentToolkit,
}: {
  agentToolkit(): Promise<Pick<AgentToolkit, 'skills'>>;
}): Handlers<typeof skillContracts> => ({
  'skills.list': async ({ agentId }, { signal }) => {
    const list = await (await agentToolkit()).skills.list(agentId, signal);
    return { skills: list, count: list.length };
  },
});
