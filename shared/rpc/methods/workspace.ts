import { call } from '../contract.ts';
import { z } from '../zod.ts';

/** Bytes of one file of a workspace. */
export const MAX_FILE_BYTES = 8 * 1024 * 1024;

/** Names with `/` between them; no empty ones, no `.` or `..`. */
export const workspacePath = z
  .string()
  .min(1)
  .max(500)
  .regex(/^[^/\\\0]+(\/[^/\\\0]+)*$/, 'must be names with / between them')
  .refine((path) => !path.split('/').some((part) => part === '.' || part === '..'), 'must not have . or ..');

export const workspaceName = z.string().regex(/^[A-Za-z0-9_-]{1,128}$/, 'must match [A-Za-z0-9_-]{1,128}');

/** A file of a workspace as it is kept. */
export const fileRecord = z.object({
  /** `<workspace>/<path>`. */
  key: z.string(),
  workspace: workspaceName,
  path: workspacePath,
  mimeType: z.string(),
  /** Text as it is, anything else as base64. */
  encoding: z.enum(['utf8', 'base64']),
  content: z.string(),
  /** Bytes. */
  size: z.number().int().nonnegative(),
  modifiedAt: z.number(),
});
export type FileRecord = z.infer<typeof fileRecord>;

export const fileEntry = fileRecord.omit({ key: true, content: true, encoding: true });
export type FileEntry = z.infer<typeof fileEntry>;

const workspace = workspaceName.default('main');

/** Files that agents work with: each agent has a workspace (its configuration's `workspace`, else of its own id). */
export const workspaces = {
  'workspace.list': call({
    params: z.strictObject({ workspace, under: z.string().max(500).optional() }),
    result: z.object({ files: z.array(fileEntry), count: z.number().int() }),
    docs: 'Lists the files of a workspace by path, or those under a folder.',
    policy: { scope: 'read' },
  }),
  'workspace.read': call({
    params: z.strictObject({ workspace, path: workspacePath }),
    result: z.object({ file: fileEntry, content: z.string(), encoding: z.enum(['utf8', 'base64']) }),
    docs: 'Reads a file: text as it is, anything else as base64.',
    policy: { scope: 'read' },
  }),
  'workspace.write': call({
    params: z.strictObject({
      workspace,
      path: workspacePath,
      content: z.string().max(Math.ceil((MAX_FILE_BYTES * 4) / 3)),
      encoding: z.enum(['utf8', 'base64']).default('utf8'),
      mimeType: z.string().min(1).max(200).optional(),
    }),
    result: z.object({ file: fileEntry }),
    docs: 'Writes a whole file, of 8 MiB at the most.',
    policy: { scope: 'write' },
  }),
  'workspace.remove': call({
    params: z.strictObject({ workspace, path: workspacePath }),
    result: z.object({ removed: z.literal(true) }),
    docs: 'Removes a file.',
    policy: { scope: 'write' },
  }),
};
