import { defineMethod } from '../rpc/contract.ts';
import { z } from '../rpc/zod.ts';
import { definePort } from './port.ts';

/** Maximum bytes of one read: the largest document that is indexed. */
export const MAX_FOLDER_READ_BYTES = 25 * 1024 * 1024;
/** Maximum number of entries in a page of a scan. */
const MAX_SCAN_PAGE = 2000;
/** Maximum number of changed paths in an event; more are reported without paths. */
export const MAX_CHANGED_PATHS = 500;
/** Maximum size of a cloned repository with its files. */
export const MAX_CLONE_BYTES = 1024 * 1024 * 1024;

/**
 * `folder` and `repository`: files that Perch can read; within repositories, without those that `.gitignore` excludes. `mail`: mbox files,
 * maildirs and `.eml` files, one entry per message.
 */
const folderKind = z.enum(['folder', 'repository', 'mail']);
export type FolderKind = z.infer<typeof folderKind>;

/** Absolute path on the bridge's computer. */
const diskPath = z.string().min(1).max(4096);
/** Path below a root, with `/` between its parts. */
const relativePath = z.string().min(1).max(4096);
/** Patterns as in `.gitignore`. */
const patterns = z.array(z.string().min(1).max(500)).max(200);
/** Hosts on the private network that the user has allowed, as for `web.fetch`. */
const allowedHosts = z.array(z.string().max(300)).max(1000).default([]);

const sourceEntry = z.object({
  /** Below the root, with `/` between its parts. The name of the file if the root is a file. */
  path: z.string(),
  /** Bytes. */
  size: z.number().int().nonnegative(),
  /** Milliseconds since the Unix epoch. For a message in an mbox file, its date there: appending to the file doesn't change it. */
  modifiedAt: z.number(),
  /** Position of a message in an mbox file, in bytes; `size` is its length. Together with `path` it identifies the message. */
  offset: z.number().int().nonnegative().optional(),
});
/** A file, or a message in an mbox file. */
export type SourceEntry = z.infer<typeof sourceEntry>;

const checkout = z.object({
  /** Folder of the copy on the bridge's computer, approved for reading. */
  root: z.string(),
  commit: z.string(),
});

/**
 * Folders and repositories on the bridge's computer, for reading only. The bridge reads below roots that were approved on this computer: a
 * source that another computer added to the shared vault can't be read here without an approval.
 */
export const foldersPort = definePort({
  kind: 'folders',
  featureName: 'Reading folders on this computer',
  calls: {
    'folders.list': defineMethod({
      params: z.strictObject({
        /** The user's home directory by default. */
        path: diskPath.optional(),
      }),
      result: z.object({
        path: z.string(),
        /** Null at the top of the disk. */
        parent: z.string().nullable(),
        /** Names of folders, sorted, without hidden ones. */
        folders: z.array(z.string()),
        /** Names of mail files (`.mbox`), sorted. */
        files: z.array(z.string()),
        truncated: z.boolean(),
      }),
      docs: 'Lists the folders in a folder, for choosing one. `NOT_FOUND` if it does not exist or can’t be read.',
      fails: ['NOT_FOUND'],
      policy: { scope: 'admin' },
    }),
    'folders.approve': defineMethod({
      params: z.strictObject({ path: diskPath }),
      result: z.object({
        /** The path with links resolved; use it for the other calls. */
        root: z.string(),
        /** Whether the root is a folder. */
        isFolder: z.boolean(),
        /** Whether it is the top folder of a git repository. */
        isRepository: z.boolean(),
      }),
      docs: 'Allows reading below a folder, or one file. Only for a person’s request. `NOT_FOUND` if it does not exist.',
      fails: ['NOT_FOUND'],
      policy: { scope: 'admin' },
    }),
    'folders.revoke': defineMethod({
      params: z.strictObject({ root: diskPath }),
      result: z.object({ revoked: z.boolean() }),
      docs: 'Ends the permission to read below a root, and deletes it if it is a repository that Perch cloned.',
      policy: { scope: 'admin' },
    }),
    'folders.scan': defineMethod({
      params: z.strictObject({
        root: diskPath,
        kind: folderKind,
        /** Only files that match one of these patterns; all if empty. */
        include: patterns.default([]),
        /** Without files and folders that match one of these patterns. */
        exclude: patterns.default([]),
        /** `next` of the previous page. */
        cursor: z.string().max(8192).optional(),
        limit: z.number().int().min(1).max(MAX_SCAN_PAGE).default(MAX_SCAN_PAGE),
      }),
      result: z.object({
        /** Sorted by path, part by part. */
        entries: z.array(sourceEntry),
        /** Number of files of this page that were skipped because Perch can’t read their type. */
        skipped: z.number().int(),
        /** Folders and files of this page that can’t be read, and why. */
        problems: z.array(z.object({ path: z.string(), problem: z.string() })),
        /** Cursor of the next page; missing on the last one. A page with a cursor may be empty. */
        next: z.string().optional(),
      }),
      docs: 'Lists readable files below an approved root, page by page. Leaves out hidden files, `node_modules`, links, what `.gitignore` files of repositories exclude, and the bridge’s own files. `NOT_FOUND` if the root is gone.',
      fails: ['NOT_FOUND'],
      policy: { scope: 'read' },
    }),
    'folders.read': defineMethod({
      params: z.strictObject({
        root: diskPath,
        path: relativePath,
        /** Position of the first byte: the `offset` of a message in an mbox file. */
        offset: z.number().int().nonnegative().default(0),
        /** Maximum number of bytes: the `size` of a message in an mbox file. At most `MAX_FOLDER_READ_BYTES` are read. */
        maxBytes: z.number().int().min(1).default(MAX_FOLDER_READ_BYTES),
      }),
      result: z.object({
        /** Base64. */
        content: z.string(),
        /** Size of the whole file in bytes. */
        size: z.number().int(),
        modifiedAt: z.number(),
        /** Whether the file has bytes after these. */
        truncated: z.boolean(),
      }),
      docs: 'Reads a file below an approved root. `NOT_FOUND` if it is gone; `INVALID_PARAMS` for paths that leave the root and for anything but regular files.',
      fails: ['NOT_FOUND'],
      policy: { scope: 'read' },
    }),
    'folders.watch': defineMethod({
      params: z.strictObject({ roots: z.array(diskPath).max(200) }),
      result: z.object({}),
      docs: 'Sends `folders.changed` for approved roots whose files may have changed, until the caller disconnects. Roots that don’t exist are watched for their return.',
      policy: { scope: 'read' },
    }),
    'folders.clone': defineMethod({
      params: z.strictObject({
        /** `https://`, `ssh://` or `git@host:path`. */
        url: z.string().min(1).max(2048),
        /** Branch or tag; the default branch if missing. */
        ref: z.string().min(1).max(200).optional(),
        allow: allowedHosts,
      }),
      result: checkout,
      docs: 'Clones the newest commit of a repository into the bridge’s home, or updates an earlier copy. Runs no hooks, filters or submodules, and asks for no passwords.',
      policy: { scope: 'admin' },
    }),
    'folders.pull': defineMethod({
      params: z.strictObject({ root: diskPath, allow: allowedHosts }),
      result: checkout.extend({ changed: z.boolean() }),
      docs: 'Updates a repository that Perch cloned. `NOT_FOUND` if there is no such copy.',
      fails: ['NOT_FOUND'],
      policy: { scope: 'write' },
    }),
  },
  events: {
    'folders.changed': z.object({
      root: z.string(),
      /** Changed files and folders, below the root. Missing if unknown: scan the root. */
      paths: z.array(z.string()).optional(),
    }),
    /** Progress of a clone or update. */
    'folders.progress': z.object({ bytes: z.number().int() }),
  },
});
