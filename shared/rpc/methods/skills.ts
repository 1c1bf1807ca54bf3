import { call } from '../contract.ts';
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
    params: z.strictObject({}),
    result: z.object({ skills: z.array(skillEntry), count: z.number().int() }),
    docs: 'Lists the skills of all agents’ workspaces (`skills/<name>/SKILL.md`) and of the bridge’s folder, with what each lacks.',
    policy: { scope: 'read' },
  }),
};
