import { defineMethod } from '../contract.ts';
import { workspaceName } from '../record-schemas.ts';
import { fileRecord, workspacePath, WORKSPACE_LIMITS } from '../workspace-file.ts';
import { z } from '../zod.ts';

const fileEntry = fileRecord.omit({ key: true, content: true, encoding: true });
export type FileEntry = z.infer<typeof fileEntry>;

const fileVersion = z.object({
  id: z.string(),
  path: z.string(),
  size: z.number().int(),
  /** When that version was written, in milliseconds since the Unix epoch. */
  modifiedAt: z.number(),
  /** When a tool replaced or removed it. */
  at: z.number(),
  /** The ID of the model's tool call that did so. */
  toolCallId: z.string().optional(),
});
/** An earlier version of a file that a tool replaced or removed. */
export type FileVersion = z.infer<typeof fileVersion>;

const workspace = workspaceName.default('main');

/** State of a workspace and its folder on the bridge's machine. */
const mirrorState = z.object({
  workspace: z.string(),
  /** Null if the folder has not been checked yet. */
  folder: z.string().nullable(),
  /** `stopped`: many files disappeared from one side, perhaps by accident. `workspace.resume` says what to do. */
  state: z.enum(['waiting', 'synced', 'stopped', 'failed']),
  problem: z.string().nullable(),
  gone: z.object({ from: z.enum(['folder', 'vault']), count: z.number().int() }).nullable(),
  /** Files that are not mirrored and why; the first 100. */
  skipped: z.array(z.object({ path: z.string(), why: z.string() })),
  skippedCount: z.number().int(),
});
export type MirrorState = z.infer<typeof mirrorState>;

/** Files of agents. Each agent has a workspace: the one named in its configuration, or one with its own ID. */
export const workspaceContracts = {
  'workspace.list': defineMethod({
    params: z.strictObject({ workspace, under: workspacePath.optional() }),
    result: z.object({ files: z.array(fileEntry), count: z.number().int() }),
    docs: 'Lists the files of a workspace, or those under a folder, sorted by path.',
    policy: { scope: 'read' },
  }),
  'workspace.read': defineMethod({
    params: z.strictObject({ workspace, path: workspacePath }),
    result: z.object({ file: fileEntry, content: z.string(), encoding: z.enum(['utf8', 'base64']) }),
    docs: 'Returns the contents of a file: text as is, other files base64-encoded.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'workspace.write': defineMethod({
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
      /** Outside sources of an imported file, such as `import:OpenClaw`. It waits for review. */
      outside: z.array(z.string().min(1).max(200)).max(20).optional(),
    }),
    result: z.object({ file: fileEntry }),
    docs: 'Writes a whole file, up to 8 MiB. A workspace can hold up to 10,000 files and 256 MiB. If `mimeType` is omitted, it is detected from the contents and, for text, from the file name. With `outside` the file counts as content from outside until a person reviews it.',
    policy: { scope: 'write' },
  }),
  'workspace.remove': defineMethod({
    params: z.strictObject({ workspace, path: workspacePath }),
    result: z.object({ removed: z.literal(true) }),
    docs: 'Removes a file.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'workspace.versions': defineMethod({
    params: z.strictObject({ workspace, path: workspacePath.optional() }),
    result: z.object({ versions: z.array(fileVersion), count: z.number().int() }),
    docs: 'Lists earlier versions of files that tools of agents replaced or removed, newest first: up to 20 of a file and 200 of a workspace.',
    policy: { scope: 'read' },
  }),
  'workspace.restore': defineMethod({
    params: z.strictObject({
      id: z.string().min(1).max(1000).optional(),
      /** The tool call whose change to undo. Alternative to `id`. */
      toolCallId: z.string().min(1).max(300).optional(),
    }),
    result: z.object({ file: fileEntry }),
    docs: 'Writes an earlier version of a file back, by its `id` or by the `toolCallId` of the call that replaced it. The current content becomes a version itself.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'workspace.mirrors': defineMethod({
    params: z.strictObject({}),
    result: z.object({ mirrors: z.array(mirrorState) }),
    docs: 'Lists the state of the folders on the bridge’s machine that workspaces are mirrored to. Empty without a bridge.',
    policy: { scope: 'read' },
  }),
  'workspace.resume': defineMethod({
    params: z.strictObject({
      workspace,
      /** `restore`: restore the missing files from the other side. `remove`: remove them there too. */
      gone: z.enum(['restore', 'remove']),
    }),
    result: z.object({ mirror: mirrorState }),
    docs: 'Resumes a mirror that stopped because many files disappeared at once. Other mirrors are not changed. Returns `NOT_FOUND` if the workspace is not mirrored.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
};
