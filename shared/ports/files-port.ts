import { defineMethod } from '../rpc/contract.ts';
import { WORKSPACE_LIMITS, workspacePath } from '../rpc/workspace-file.ts';
import { workspaceName } from '../rpc/record-schemas.ts';
import { z } from '../rpc/zod.ts';
import { definePort } from './port.ts';

/** SHA-256 of a file's bytes. */
const hash = z.string().regex(/^[0-9a-f]{64}$/);

/** Last common state of folder and vault: the bytes, and the vault's record of them. */
const fileBaseline = z.object({ hash, size: z.number().int().nonnegative(), modifiedAt: z.number() });
export type FileBaseline = z.infer<typeof fileBaseline>;

const folderEntry = z.object({
  /** Name in the vault. A file with an invalid name is reported by its name on disk. */
  path: z.string(),
  /** Null if the file does not exist. */
  hash: hash.nullable(),
  agreed: fileBaseline.nullable(),
  /** Why the file is skipped; `hash` then has no meaning. */
  problem: z.string().optional(),
});
export type FolderEntry = z.infer<typeof folderEntry>;

const encoding = z.enum(['utf8', 'base64']);
const content = z.string().max(Math.ceil((WORKSPACE_LIMITS.fileBytes * 4) / 3) + 4);
/** Expected hash of the file, null if it must not exist. */
const base = hash.nullable();

const folderStep = z.discriminatedUnion('do', [
  z.object({ do: z.literal('write'), path: workspacePath, base, content, encoding, agreed: fileBaseline }),
  z.object({ do: z.literal('remove'), path: workspacePath, base }),
  /** Both already agree. Null: neither has the file. */
  z.object({ do: z.literal('note'), path: z.string(), agreed: fileBaseline.nullable() }),
]);
export type FolderStep = z.infer<typeof folderStep>;

/** Maximum number of files in a call that carries contents, and maximum bytes of one that has more than one. */
export const MAX_FOLDER_BATCH = { files: 1000, bytes: 4 * 1024 * 1024 } as const;

/** Files of systems and tools; files in `.git` can make programs run. */
const IGNORED_NAMES = new Set(['.git', 'node_modules', '.DS_Store', 'Thumbs.db', 'desktop.ini']);
/** The index of an agent's memory, SQLite's files next to it, and the lock file of the process that changes files there. */
const MEMORY_FILES = /^(memory\.db(-wal|-shm|-journal)?|\.perch\.lock(\..*)?)$/;

/** Whether a file of that path is mirrored; others are ignored. */
export const isMirrored = (path: string): boolean => !MEMORY_FILES.test(path) && !path.split('/').some((part) => IGNORED_NAMES.has(part));

/** Folders on the bridge's machine, one for each workspace: `workspaces/<name>` in its home. */
export const filesPort = definePort({
  kind: 'files',
  featureName: 'Mirroring workspaces to folders',
  calls: {
    'files.scan': defineMethod({
      params: z.strictObject({
        workspace: workspaceName,
        /** The last known `mark` of the folder. */
        known: z.string().nullable(),
        /** Creates the folder again if it has vanished. */
        make: z.boolean().default(false),
      }),
      result: z.object({
        /** `vanished`: files of it are agreed on, and the folder is not there. */
        state: z.enum(['same', 'read', 'vanished']),
        folder: z.string(),
        mark: z.string(),
      }),
      docs: 'Scans a folder and sends `files.entries` with all files that exist or were agreed on, unless it is unchanged.',
      policy: { scope: 'read' },
    }),
    'files.read': defineMethod({
      params: z.strictObject({
        workspace: workspaceName,
        files: z.array(z.object({ path: workspacePath, hash })).max(MAX_FOLDER_BATCH.files),
      }),
      result: z.object({ files: z.array(z.object({ path: z.string(), content, encoding })) }),
      docs: 'Returns the contents of as many of the files as fit into a call, in order. Files that have changed since are omitted.',
      policy: { scope: 'read' },
    }),
    'files.apply': defineMethod({
      params: z.strictObject({ workspace: workspaceName, steps: z.array(folderStep).max(2 * WORKSPACE_LIMITS.files) }),
      result: z.object({
        /** One outcome per step. `changed`: the file was not in the expected state and was not touched. */
        outcomes: z.array(z.object({ outcome: z.enum(['done', 'changed', 'refused']), why: z.string().optional() })),
      }),
      docs: 'Writes and deletes files, each atomically, and records what is agreed on.',
      policy: { scope: 'admin' },
    }),
    'files.watch': defineMethod({
      params: z.strictObject({ workspaces: z.array(workspaceName).max(1000) }),
      result: z.object({}),
      docs: 'Sends `files.changed` for folders that may have changed, until the caller disconnects.',
      policy: { scope: 'read' },
    }),
  },
  events: {
    'files.entries': z.object({ entries: z.array(folderEntry) }),
    'files.changed': z.object({ workspace: z.string() }),
  },
});
