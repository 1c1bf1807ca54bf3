import { call } from '../contract.ts';
import { workspaceName } from '../records.ts';
import { z } from '../zod.ts';

/** Bytes of one file, and what a whole workspace may have. */
export const WORKSPACE_LIMITS = { fileBytes: 8 * 1024 * 1024, bytes: 256 * 1024 * 1024, files: 10_000 } as const;

/** Names with `/` between them; no empty ones, no `.` or `..`, no control characters. In Unicode's form NFC, so that what looks the same is the same. */
export const workspacePath = z
  .string()
  .normalize('NFC')
  .min(1)
  .max(400)
  .regex(/^[^/\\\p{Cc}\p{Cs}]+(\/[^/\\\p{Cc}\p{Cs}]+)*$/u, 'must be names with / between them')
  .refine((path) => !path.split('/').some((part) => part === '.' || part === '..'), 'must not have . or ..');

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

/** How it stands with a workspace and its folder on the bridge's machine. */
const mirrorState = z.object({
  workspace: z.string(),
  /** Null: not looked at yet. */
  folder: z.string().nullable(),
  /** `stopped`: so much is gone from one side that it may be an accident; `workspace.resume` says what is meant. */
  state: z.enum(['waiting', 'synced', 'stopped', 'failed']),
  problem: z.string().nullable(),
  gone: z.object({ from: z.enum(['folder', 'vault']), count: z.number().int() }).nullable(),
  /** Files that are left alone, the first hundred of them, and why. */
  skipped: z.array(z.object({ path: z.string(), why: z.string() })),
  skippedCount: z.number().int(),
});
export type MirrorState = z.infer<typeof mirrorState>;

/** Files that agents work with: each agent has a workspace (its configuration's `workspace`, else of its own id). */
export const workspaces = {
  'workspace.list': call({
    params: z.strictObject({ workspace, under: workspacePath.optional() }),
    result: z.object({ files: z.array(fileEntry), count: z.number().int() }),
    docs: 'Lists the files of a workspace by path, or those under a folder.',
    policy: { scope: 'read' },
  }),
  'workspace.read': call({
    params: z.strictObject({ workspace, path: workspacePath }),
    result: z.object({ file: fileEntry, content: z.string(), encoding: z.enum(['utf8', 'base64']) }),
    docs: 'Reads a file: text as it is, anything else as base64.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'workspace.write': call({
    params: z.strictObject({
      workspace,
      path: workspacePath,
      content: z.string().max(Math.ceil((WORKSPACE_LIMITS.fileBytes * 4) / 3) + 4),
      encoding: z.enum(['utf8', 'base64']).default('utf8'),
      mimeType: z
        .string()
        .max(200)
        .regex(/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(; ?[\w!#$&^.+-]+=[\w!#$&^.+-]+)*$/, 'must be a media type such as text/plain')
        .optional(),
    }),
    result: z.object({ file: fileEntry }),
    docs: 'Writes a whole file, of 8 MiB at the most; a workspace holds 10,000 files and 256 MiB. `mimeType` goes by the content where it is left out, and by the name where that is text.',
    policy: { scope: 'write' },
  }),
  'workspace.remove': call({
    params: z.strictObject({ workspace, path: workspacePath }),
    result: z.object({ removed: z.literal(true) }),
    docs: 'Removes a file.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'workspace.mirrors': call({
    params: z.strictObject({}),
    result: z.object({ mirrors: z.array(mirrorState) }),
    docs: 'Tells how it stands with the folders on the bridge’s machine that workspaces are mirrored in; none where there is no bridge.',
    policy: { scope: 'read' },
  }),
  'workspace.resume': call({
    params: z.strictObject({
      workspace,
      /** What is gone from one side comes back from the other, or goes from there too. */
      gone: z.enum(['restore', 'remove']),
    }),
    result: z.object({ mirror: mirrorState }),
    docs: 'Goes on with a mirror that has stopped because much was gone at once; another is left as it is. NOT_FOUND where the workspace is not mirrored.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
};
