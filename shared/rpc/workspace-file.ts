import { workspaceName } from './record-schemas.ts';
import { z } from './zod.ts';

/** Maximum size of a file, and limits of a workspace. */
export const WORKSPACE_LIMITS = { fileBytes: 8 * 1024 * 1024, bytes: 256 * 1024 * 1024, files: 10_000 } as const;

/** Names separated by `/`: none empty, no `.` or `..`, no control characters. Normalised to NFC, so that names that look the same are the same. */
export const workspacePath = z
  .string()
  .normalize('NFC')
  .min(1)
  .max(400)
  .regex(/^[^/\\\p{Cc}\p{Cs}]+(\/[^/\\\p{Cc}\p{Cs}]+)*$/u, 'must be names separated by /')
  .refine((path) => !path.split('/').some((part) => part === '.' || part === '..'), 'must not contain . or ..');

/** A file of a workspace as stored. */
export const fileRecord = z.object({
  /** `<workspace>/<path>`. */
  key: z.string(),
  workspace: workspaceName,
  path: workspacePath,
  mimeType: z.string(),
  /** Text as is, other files base64-encoded. */
  encoding: z.enum(['utf8', 'base64']),
  content: z.string(),
  /** Size in bytes. */
  size: z.number().int().nonnegative(),
  modifiedAt: z.number(),
});
export type FileRecord = z.infer<typeof fileRecord>;
