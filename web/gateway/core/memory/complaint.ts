import { placeOf } from '#shared/cut-short.ts';
import type { z } from '#shared/rpc/zod.ts';

/** Describes the first error of a schema validation as a sentence that names the member. */
export function complaint(error: z.ZodError, member = 'setting', whole = 'The settings'): string {
  const [issue] = error.issues;
  if (!issue) return `${whole} can’t be read.`;
  if (issue.code === 'unrecognized_keys') return `Unknown ${member} \`${placeOf([...issue.path, issue.keys[0] ?? ''])}\`.`;
  return `${issue.path.length === 0 ? whole : `\`${placeOf(issue.path)}\``} ${issue.message}.`;
}
