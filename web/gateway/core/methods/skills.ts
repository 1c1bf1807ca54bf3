import type { skills } from '#shared/rpc/methods/skills.ts';
import type { Handlers } from '../dispatch.ts';
import type { Workbench } from '../workbench.ts';

export const skillMethods = ({ workbench }: { workbench(): Promise<Pick<Workbench, 'skills'>> }): Handlers<typeof skills> => ({
  'skills.list': async ({ agentId }, { signal }) => {
    const list = await (await workbench()).skills.list(agentId, signal);
    return { skills: list, count: list.length };
  },
});
