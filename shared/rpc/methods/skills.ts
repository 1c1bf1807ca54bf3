import { call } from '../contract.ts';
import { agentId } from '../records.ts';
import { z } from '../zod.ts';

export const skillEntry = z.object({
  name: z.string(),
  description: z.string(),
  /** A workspace of an agent, or the bridge's folder. */
  source: z.enum(['workspace', 'bridge']),
  /** Its folder: `<workspace>/skills/<name>`, or on the bridge's disk. */
  path: z.string(),
  /** Agents are told of those that are ready. */
  state: z.enum(['ready', 'missing', 'invalid']),
  /** What it needs and is not there: programs, environment variables, and the systems of which this is none. */
  missing: z.array(z.string()),
  /** False: a person does not call it by its name. */
  userInvocable: z.boolean().optional(),
  /** What is wrong with it, or cannot be found out. */
  problem: z.string().optional(),
  /** What it says of where it works. */
  compatibility: z.string().optional(),
  license: z.string().optional(),
});
/** A skill in the open Agent Skills format: a folder with `SKILL.md`. */
export type SkillEntry = z.infer<typeof skillEntry>;

/** The skills (interface document 1, section 4.1). */
export const skills = {
  'skills.list': call({
    params: z.strictObject({
      /** Only those that this agent has. */
      agentId: agentId.optional(),
    }),
    result: z.object({ skills: z.array(skillEntry), count: z.number().int() }),
    docs: 'Lists the skills of all agents’ workspaces (`skills/<name>/SKILL.md`) and of the bridge’s folder, with what each lacks; with `agentId` those of one agent. A message that begins with `/` and the name of one that is ready has its instructions put before the model, unless its front matter says `user-invocable: false`.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
};
