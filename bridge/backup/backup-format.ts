import { z } from '#shared/rpc/zod.ts';
import { SYNC_STORES, type SyncRecord, type SyncStore } from '#shared/sync/record.ts';

/** Version of the backup format: a zip of `backup.json`, `records/<store>.jsonl`, `blobs/<sha256>`, and optionally `secrets.sealed`. */
export const FORMAT = 1;
export const MANIFEST_NAME = 'backup.json';
export const SECRETS_NAME = 'secrets.sealed';

/** Maximum unpacked size of a backup unless the user allows more, and the maximum size of its `backup.json` and of its secrets. */
export const MAX_UNPACKED_BYTES = 256 * 1024 * 1024;
/**
 * Maximum compression ratio. Actual backups reach about 30; a small file that unpacks to more than this is built to waste time and memory.
 */
const MAX_RATIO = 100;
const MIN_UNPACK_LIMIT_BYTES = 32 * 1024 * 1024;
export const MAX_MANIFEST_BYTES = 32 * 1024 * 1024;
export const MAX_SECRETS_BYTES = 32 * 1024 * 1024;
export const MAX_ENTRIES = 200_000;

/** Returns the default limit of the unpacked size for a backup file of this size. */
export const getUnpackLimit = (fileBytes: number): number =>
  Math.min(MAX_UNPACKED_BYTES, Math.max(MIN_UNPACK_LIMIT_BYTES, fileBytes * MAX_RATIO));

/** Stores that a backup contains unencrypted, one file each: all except the secrets. */
export type BackupStore = Exclude<SyncStore, 'secrets'>;
export const BACKUP_STORES = (Object.keys(SYNC_STORES) as SyncStore[]).filter((store) => store !== 'secrets');

export const toRecordsEntryName = (store: BackupStore): string => `records/${store}.jsonl`;
export const toBlobEntryName = (hash: string): string => `blobs/${hash}`;

const BLOB_NAME = /^blobs\/([0-9a-f]{64})$/;
const STORES_BY_ENTRY = new Map(BACKUP_STORES.map((store) => [toRecordsEntryName(store), store]));

export type EntryKind =
  { kind: 'manifest' } | { kind: 'secrets' } | { kind: 'records'; store: BackupStore } | { kind: 'blob'; hash: string };

/** Returns the kind of an entry by its name; undefined if it does not belong in a backup. */
export function getEntryKind(name: string): EntryKind | undefined {
  if (name === MANIFEST_NAME) return { kind: 'manifest' };
  if (name === SECRETS_NAME) return { kind: 'secrets' };
  const store = STORES_BY_ENTRY.get(name);
  if (store) return { kind: 'records', store };
  const [, hash] = BLOB_NAME.exec(name) ?? [];
  return hash === undefined ? undefined : { kind: 'blob', hash };
}

const count = z.number().int().nonnegative();

/** The only part of the manifest that is the same in every format. */
export const manifestHeadSchema = z.object({ format: z.number().int().positive() });

export const manifestSchema = z.object({
  format: z.literal(FORMAT),
  /** Version of Perch that wrote it. */
  app: z.string().max(100),
  /** Newest schema among the records; 0 if unknown. */
  schema: count,
  journal: z.string().max(200),
  /** ISO 8601. */
  created: z.iso.datetime(),
  /** Numbers of records by store, attachments, and sealed secrets. */
  counts: z.object({ records: z.partialRecord(z.enum(BACKUP_STORES), count), blobs: count, secrets: count }),
  /** Number of referenced attachments that were missing in the journal. */
  missingBlobs: count,
  /** SHA-256 in hex of each other unpacked entry. */
  entries: z.record(z.string().max(200), z.string().regex(/^[0-9a-f]{64}$/)),
});
export type Manifest = z.infer<typeof manifestSchema>;

/** An unusable backup; the message says why. */
export class InvalidBackupError extends Error {
  override name = 'InvalidBackupError';
}

const activeRun = z.object({ status: z.enum(['queued', 'running']) });

/** Whether a record is a run in progress, which only has meaning for its host. Such runs are neither backed up nor changed by a restore. */
export const isActiveRun = ({ store, payload }: Pick<SyncRecord, 'store' | 'payload'>): boolean =>
  store === 'runs' && payload !== null && activeRun.safeParse(parseJsonSafely(payload)).success;

/**
 * Maximum number of brackets and commas in a JSON text: more than Perch's own files contain, and few enough to be parsed in little memory.
 */
const MAX_STRUCTURE_CHARS = 1_000_000;
const [QUOTE, BACKSLASH, BRACKET, BRACE, COMMA] = [0x22, 0x5c, 0x5b, 0x7b, 0x2c];

/** Returns the index of the quotation mark that ends a JSON string starting at `from`; the text's length if there is none. */
function findStringEnd(text: string, from: number): number {
  for (let end = text.indexOf('"', from); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (end - backslashes > from && text.charCodeAt(end - backslashes - 1) === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

/** Parses a JSON text. Undefined if it is invalid or has too many brackets, since a few megabytes of those take gigabytes to parse. */
export function parseJsonSafely(text: string): unknown {
  let structure = 0;
  for (let at = 0; text.length > MAX_STRUCTURE_CHARS && at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) at = findStringEnd(text, at + 1);
    else if ((char === BRACKET || char === BRACE || char === COMMA) && ++structure > MAX_STRUCTURE_CHARS) return undefined;
  }
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
