import { RpcError } from '#shared/rpc/rpc-error.ts';
import { z } from '#shared/rpc/zod.ts';
import type { Agent } from '../agents.ts';
import { defineTool } from '../tools/define-tool.ts';
import type { Tool } from '../tools/tool-registry.ts';
import { getTextPage } from '../workspace/text-page.ts';
import { type SkillLibrary, withoutUnreviewed } from './skill-library.ts';

const PAGE_CHARS = 30_000;

export const SKILL_READ = 'skill_read';

interface SkillToolsDeps {
  skills: SkillLibrary;
  agent(id: string): Agent;
}

export function skillTools({ skills, agent }: SkillToolsDeps): Tool[] {
  return [
    defineTool({
      name: SKILL_READ,
      title: 'Read skill',
      summary: 'Reads the instructions of a skill.',
      description: 'Reads the instructions of a skill, or another file in it, from an offset up to nextOffset.',
      source: 'core',
      scope: null,
      params: z.strictObject({
        name: z.string().min(1).max(255).describe('Skill name'),
        file: z.string().min(1).max(1000).default('SKILL.md').describe('A file in the skill'),
        offset: z.number().int().min(0).default(0).describe('Default: the beginning'),
      }),
      impact: 'reads',
      async run({ name, file, offset }, { agentId, signal, taint }) {
        const all = await skills.listForAgent(agent(agentId), signal);
        const skill = all.find(({ entry }) => entry.name === name);
        if (!skill) {
          const names = withoutUnreviewed(all, taint)
            .filter(({ entry }) => entry.state === 'ready')
            .map(({ entry }) => entry.name);
          throw new RpcError('NOT_FOUND', `No skill with name "${name}". Available: ${names.join(', ') || 'none'}.`);
        }
        const { entry, files, outside } = skill;
        taint?.add(outside);
        if (entry.state === 'invalid')
          throw new RpcError('INVALID_PARAMS', `Skill ${name} can’t be used: ${entry.problem ?? 'it is invalid'}.`);
        const page = getTextPage(await skill.read(file, signal), offset, PAGE_CHARS);
        return { name, file, ...page, files, ...(entry.missing.length > 0 ? { missing: entry.missing } : {}) };
      },
    }),
  ];
}
