import { z } from '#shared/rpc/zod.ts';
import { SYNC_STORES, type SyncRecord, type SyncStore } from '#shared/sync/record.ts';

/** What a backup is: a zip of `backup.json`, `records/<store>.jsonl`, `blobs/<sha256>`, and `secrets.sealed` where they were asked for. */
export const FORMAT = 1;
export const MANIFEST = 'backup.json';
export const SECRETS = 'secrets.sealed';

/** What a backup may unpack to unless somebody allows more (quality.md, "Security"), and the most of it that may be `backup.json`, or the secrets. */
export const MAX_UNPACKED = 256 * 1024 * 1024;
/** Real backups unpack to some 30 times their size at most; a small file that unpacks to more than this is made to cost time and memory. */
const MAX_RATIO = 100;
const MIN_UNPACK_LIMIT = 32 * 1024 * 1024;
export const MAX_MANIFEST = 32 * 1024 * 1024;
export const MAX_SECRETS = 32 * 1024 * 1024;
export const MAX_ENTRIES = 200_000;

/** Bytes that a backup file of this size may unpack to by default. */
export const getUnpackLimit = (fileBytes: number): number => Math.min(MAX_UNPACKED, Math.max(MIN_UNPACK_LIMIT, fileBytes * MAX_RATIO));

/** The stores whose records a backup holds in the clear, one file each: all but the secrets. */
export type BackupStore = Exclude<SyncStore, 'secrets'>;
export const BACKUP_STORES = (Object.keys(SYNC_STORES) as SyncStore[]).filter((store) => store !== 'secrets');

export const recordsEntry = (store: BackupStore): string => `records/${store}.jsonl`;
export const blobEntry = (hash: string): string => `blobs/${hash}`;

const BLOB = /^blobs\/([0-9a-f]{64})$/;
const RECORDS = new Map(BACKUP_STORES.map((store) => [recordsEntry(store), store]));

export type EntryKind =
  { kind: 'manifest' } | { kind: 'secrets' } | { kind: 'records'; store: BackupStore } | { kind: 'blob'; hash: string };

/** What an entry is by its name; undefined: it has no place in a backup. */
export function entryKind(name: string): EntryKind | undefined {
  if (name === MANIFEST) return { kind: 'manifest' };
  if (name === SECRETS) return { kind: 'secrets' };
  const store = RECORDS.get(name);
  if (store) return { kind: 'records', store };
  const [, hash] = BLOB.exec(name) ?? [];
  return hash === undefined ? undefined : { kind: 'blob', hash };
}

const count = z.number().int().nonnegative();

/** Only this of the manifest is the same in every format. */
export const manifestHead = z.object({ format: z.number().int().positive() });

export const manifest = z.object({
  format: z.literal(FORMAT),
  /** The version of Perch that wrote it. */
  app: z.string().max(100),
  /** The newest schema among the records; 0 where nobody said so. */
  schema: count,
  journal: z.string().max(200),
  /** ISO 8601. */
  created: z.iso.datetime(),
  /** Records by store, attachments, and sealed secrets. */
  counts: z.object({ records: z.partialRecord(z.enum(BACKUP_STORES), count), blobs: count, secrets: count }),
  /** Attachments that the journal did not have: records refer to them. */
  missingBlobs: count,
  /** SHA-256, in hex, of each other entry as it is unpacked. */
  entries: z.record(z.string().max(200), z.string().regex(/^[0-9a-f]{64}$/)),
});
export type Manifest = z.infer<typeof manifest>;

/** A backup that cannot be used; the message says why. */
export class BackupUnusable extends Error {
  override name = 'BackupUnusable';
}

const unended = z.object({ status: z.enum(['queued', 'running']) });

/** A run under way: it belongs to whoever executes it, and means nothing later. It is neither backed up nor touched by a restore. */
export const isUnderWay = ({ store, payload }: Pick<SyncRecord, 'store' | 'payload'>): boolean =>
  store === 'runs' && payload !== null && unended.safeParse(parsedJson(payload)).success;

/** Brackets and commas of one JSON text: more than any of ours has, and few enough that to parse it takes little memory. */
const MAX_STRUCTURE = 1_000_000;
const [QUOTE, BACKSLASH, BRACKET, BRACE, COMMA] = [0x22, 0x5c, 0x5b, 0x7b, 0x2c];

/** The index of the quotation mark that ends a JSON string whose text begins at `from`; the text's length if none does. */
function findStringEnd(text: string, from: number): number {
  for (let end = text.indexOf('"', from); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (end - backslashes > from && text.charCodeAt(end - backslashes - 1) === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

/** The value of a JSON text; undefined where it is none, or nothing but brackets: a few megabytes of those take gigabytes to parse. */
export function parsedJson(text: string): unknown {
  let structure = 0;
  for (let at = 0; text.length > MAX_STRUCTURE && at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) at = findStringEnd(text, at + 1);
    else if ((char === BRACKET || char === BRACE || char === COMMA) && ++structure > MAX_STRUCTURE) return undefined;
  }
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
