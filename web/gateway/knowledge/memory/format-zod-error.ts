import { formatValuePath } from '#shared/truncate-text.ts';
import { formatIssue } from '#shared/rpc/format-issue.ts';
import type { z } from '#shared/rpc/zod.ts';

/** Describes the first error of a schema validation as a sentence that names the member. */
export function formatZodError(error: z.ZodError, member = 'setting', subject = 'The settings'): string {
  const [issue] = error.issues;
  if (!issue) return `${subject} can’t be read.`;
  if (issue.code === 'unrecognized_keys') return `Unknown ${member} \`${formatValuePath([...issue.path, issue.keys[0] ?? ''])}\`.`;
  return `${formatIssue(issue, subject)}.`;
}
