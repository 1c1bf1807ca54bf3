import { formatValuePath } from '../truncate-text.ts';
import type { z } from './zod.ts';

/** A problem of a value with its place, such as `` `at.hour` must be a number``. `whole`: what to call the value itself. */
export function formatIssue(issue: z.core.$ZodIssue | undefined, whole: string): string {
  const place = issue && issue.path.length > 0 ? `\`${formatValuePath(issue.path)}\`` : whole;
  return `${place} ${issue?.message ?? 'is invalid'}`;
}
