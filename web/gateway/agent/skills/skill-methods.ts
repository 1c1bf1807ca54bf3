import { skillContracts } from '#shared/rpc/methods/skill-contracts.ts';
import { defineMethods } from '../../system/methods.ts';
import type { AgentToolkit } from '../toolkit/agent-toolkit.ts';
import type { Lazy } from '../../system/modules.ts';

export const skillMethods = defineMethods(skillContracts)(({ agentToolkit }: { agentToolkit: Lazy<Pick<AgentToolkit, 'skills'>> }) => ({
  'skills.list': async ({ agentId }, { signal }) => {
    const list = await (await agentToolkit.load()).skills.list(agentId, signal);
    return { skills: list, count: list.length };
  },
}));
