import { defineMethod } from '../contract.ts';
import { agentId } from '../record-schemas.ts';
import { z } from '../zod.ts';

const skillEntry = z.object({
  name: z.string(),
  description: z.string(),
  /** A workspace of an agent, or the bridge's folder. */
  source: z.enum(['workspace', 'bridge']),
  /** The folder of the skill: `<workspace>/skills/<name>`, or a path on the bridge's disk. */
  path: z.string(),
  /** Agents see only ready skills. */
  state: z.enum(['ready', 'missing', 'invalid']),
  /** Missing requirements: programs, environment variables, or a supported operating system. */
  missing: z.array(z.string()),
  /** False if it cannot be used as a slash command. */
  userInvocable: z.boolean().optional(),
  /** Why the skill is invalid or cannot be checked. */
  problem: z.string().optional(),
  /** Environments that the skill supports, as its author describes them. */
  compatibility: z.string().optional(),
  license: z.string().optional(),
});
/** A skill in the open Agent Skills format: a folder with a `SKILL.md`. */
export type SkillEntry = z.infer<typeof skillEntry>;

/** Skills of agents. */
export const skillContracts = {
  'skills.list': defineMethod({
    params: z.strictObject({
      /** Only the skills of this agent. */
      agentId: agentId.optional(),
    }),
    result: z.object({ skills: z.array(skillEntry), count: z.number().int() }),
    docs: 'Lists the skills of all agents’ workspaces (`skills/<name>/SKILL.md`) and of the bridge’s folder, with missing requirements; with `agentId` only the skills of that agent. A message that starts with `/` and the name of a ready skill puts its instructions before the model, unless its front matter says `user-invocable: false`.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
};
