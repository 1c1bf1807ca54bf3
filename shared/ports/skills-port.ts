import { defineMethod } from '../rpc/contract.ts';
import { z } from '../rpc/zod.ts';
import { definePort } from './port.ts';

/** Characters of one `SKILL.md` or other file that are read, files of one skill and skills that are listed. */
export const SKILL_LIMITS = { chars: 256 * 1024, files: 200, skills: 200 } as const;

const folder = z.string().min(1).max(255);

/** The skills in the bridge's folder, as uninterpreted texts: they have no effect until an agent reads them. */
export const skillsPort = definePort({
  kind: 'skills',
  featureName: 'Reading skills from disk',
  calls: {
    list: defineMethod({
      params: z.object({}),
      result: z.object({
        skills: z.array(
          z.object({
            folder: z.string(),
            path: z.string(),
            /** `SKILL.md`; null if it cannot be read, and then `problem` says why. */
            text: z.string().nullable(),
            problem: z.string().optional(),
            /** The other files, `/` between names. */
            files: z.array(z.string()),
          }),
        ),
      }),
      docs: 'Lists the skill folders with their SKILL.md.',
      policy: { scope: 'read' },
    }),
    read: defineMethod({
      params: z.object({ folder, file: z.string().min(1).max(1000) }),
      result: z.object({ text: z.string(), truncated: z.boolean() }),
      docs: 'Returns a text file of a skill. NOT_FOUND if it is not in its folder, INVALID_PARAMS if it is not a text file.',
      policy: { scope: 'read' },
    }),
    missing: defineMethod({
      params: z.object({ programs: z.array(z.string().max(100)).max(500), variables: z.array(z.string().max(200)).max(500) }),
      result: z.object({ programs: z.array(z.string()), variables: z.array(z.string()), platform: z.string() }),
      docs: 'Returns which of these programs and environment variables are missing, and the platform (`process.platform`).',
      policy: { scope: 'read' },
    }),
  },
  events: {},
});
