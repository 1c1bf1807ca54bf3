import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { BlobReader, ZipReader } from '@zip.js/zip.js';
import type { SyncRecord } from '#shared/sync/record.ts';
import {
  BACKUP_STORES,
  BackupUnusable,
  blobEntry,
  FORMAT,
  getUnpackLimit,
  MANIFEST,
  type Manifest,
  manifest,
  manifestHead,
  MAX_MANIFEST,
  MAX_SECRETS,
  parsedJson,
  recordsEntry,
} from './format.ts';
import { Lines } from './lines.ts';
import { checked, recordOf } from './record-line.ts';
import { readSealed } from './sealed-secrets.ts';
import { entriesOf, type Found, shown, tooMuch, Unpacker } from './unpack.ts';

/** Allowance for the entries' headers, and for deflate's overhead on incompressible data. */
const OVERHEAD = 64 * 1024 * 1024;

/** A completely verified backup. Must be disposed. */
export interface Backup extends AsyncDisposable {
  readonly manifest: Manifest;
  /** Size of the file in bytes. */
  readonly bytes: number;
  /** The sealed secrets' file, if there is one. */
  readonly sealed: Uint8Array | null;
  /** SHA-256 of its attachments. */
  readonly blobs: ReadonlySet<string>;
  /** Returns an attachment's bytes. Rejects if the file has changed since. */
  blob(hash: string): Promise<Uint8Array>;
}

export interface ReadOptions {
  /** Maximum unpacked size in bytes. Default: derived from the file's size. */
  limit?: number | undefined;
  /** Newest schema that this build supports. */
  schema: number;
  /** Called with each verified record, before the rest of the backup is checked. */
  record?: (record: SyncRecord) => void;
}

/**
 * Reads a backup and verifies all of it: names, hashes, counts, and records against their schema. Rejects with `BackupUnusable`, whose
 * message is one sentence.
 */
export async function readBackup(path: string, { limit: given, schema, record = () => {} }: ReadOptions): Promise<Backup> {
  const refuse = (why: string, cause?: unknown): BackupUnusable => new BackupUnusable(`Couldn’t use ${basename(path)}: ${why}`, { cause });
  // `openAsBlob` throws synchronously if the file is missing.
  const open = async (): Promise<Blob> => openAsBlob(path);
  const file = await open().catch((error: unknown) => {
    throw refuse('the file doesn’t exist or can’t be read', error);
  });
  const limit = given ?? getUnpackLimit(file.size);
  const refusal = tooMuch(limit, given === undefined);
  if (file.size > limit + OVERHEAD) throw refuse(refusal);
  const zip = new ZipReader(new BlobReader(file), { strictness: 'strict', checkSignature: true, checkOverlappingEntry: true });
  try {
    const unpacker = new Unpacker(limit, refusal);
    const entries = await entriesOf(zip);
    // Rejects before anything is unpacked. Headers may claim less than there is, so the size is also counted later.
    if ([...entries.values()].reduce((sum, { entry }) => sum + entry.uncompressedSize, 0) > limit) throw new BackupUnusable(refusal);
    const read = await readManifest(entries, schema, unpacker);
    const sealed = await checkEntries(entries, read, unpacker, record);
    return {
      manifest: read,
      bytes: file.size,
      sealed,
      blobs: new Set([...entries.values()].flatMap(({ kind }) => (kind.kind === 'blob' ? [kind.hash] : []))),
      async blob(hash) {
        const found = entries.get(blobEntry(hash));
        const unpacked = found && (await new Unpacker(limit, refusal).whole(found.entry));
        if (unpacked?.hash !== hash) throw refuse('the file changed while it was being read');
        return unpacked.bytes;
      },
      [Symbol.asyncDispose]: () => zip.close(),
    };
  } catch (error) {
    await zip.close().catch(() => {});
    if (error instanceof BackupUnusable) throw refuse(error.message, error);
    throw refuse(`the file is damaged or not a backup (${error instanceof Error ? error.message : String(error)})`, error);
  }
}

async function readManifest(entries: ReadonlyMap<string, Found>, schema: number, unpacker: Unpacker): Promise<Manifest> {
  const found = entries.get(MANIFEST);
  if (!found) throw new BackupUnusable(`${MANIFEST} is missing`);
  const { bytes } = await unpacker.whole(found.entry, MAX_MANIFEST);
  const value = parsedJson(bytes.toString());
  const head = manifestHead.safeParse(value);
  if (head.success && head.data.format > FORMAT)
    throw new BackupUnusable('it was created by a newer version of Perch. Update Perch first.');
  const read = checked(manifest, value, MANIFEST);
  if (read.schema > schema) throw new BackupUnusable('it was created by a newer version of Perch. Update Perch first.');
  for (const name of Object.keys(read.entries))
    if (name === MANIFEST || !entries.has(name)) throw new BackupUnusable(`${shown(name)} is missing`);
  for (const name of entries.keys())
    if (name !== MANIFEST && !Object.hasOwn(read.entries, name)) throw new BackupUnusable(`${name} is not listed in ${MANIFEST}`);
  return read;
}

/** Unpacks and verifies everything except the manifest. Returns the sealed secrets' file. */
async function checkEntries(
  entries: ReadonlyMap<string, Found>,
  { entries: hashes, counts }: Manifest,
  unpacker: Unpacker,
  record: (record: SyncRecord) => void,
): Promise<Uint8Array | null> {
  let sealed: Uint8Array | null = null;
  const found = { records: new Map<string, number>(), blobs: 0 };
  for (const [name, { entry, kind }] of entries) {
    if (kind.kind === 'manifest') continue;
    let hash: string;
    if (kind.kind === 'records') {
      const keys = new Set<string>();
      const lines = new Lines((line) => {
        const read = recordOf(line, name);
        if (read.store !== kind.store || keys.has(read.key)) throw new BackupUnusable(`${name} contains a duplicate or misplaced record`);
        keys.add(read.key);
        record(read);
      });
      hash = await unpacker.unpack(entry, (bytes) => lines.add(bytes));
      lines.end();
      found.records.set(kind.store, keys.size);
    } else if (kind.kind === 'secrets') {
      const unpacked = await unpacker.whole(entry, MAX_SECRETS);
      hash = unpacked.hash;
      sealed = unpacked.bytes;
      readSealed(sealed);
    } else {
      hash = await unpacker.unpack(entry, () => {});
      if (hash !== kind.hash) throw new BackupUnusable('the SHA-256 of an attachment doesn’t match its name');
      found.blobs++;
    }
    if (hash !== hashes[name]) throw new BackupUnusable(`the SHA-256 of ${name} doesn’t match ${MANIFEST}`);
  }
  const short = BACKUP_STORES.find((store) => (found.records.get(store) ?? 0) !== (counts.records[store] ?? 0));
  if (short) throw new BackupUnusable(`the number of records in ${recordsEntry(short)} doesn’t match ${MANIFEST}`);
  if (found.blobs !== counts.blobs) throw new BackupUnusable(`the number of attachments doesn’t match ${MANIFEST}`);
  if (!sealed && counts.secrets > 0) throw new BackupUnusable('the encrypted keys are missing');
  return sealed;
}
