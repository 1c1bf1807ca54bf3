import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { BlobReader, ZipReader } from '@zip.js/zip.js';
import { type SyncRecord, syncRecord } from '#shared/sync/record.ts';
import {
  BACKUP_STORES,
  InvalidBackupError,
  toBlobEntryName,
  FORMAT,
  getUnpackLimit,
  MANIFEST_NAME,
  type Manifest,
  manifestSchema,
  manifestHeadSchema,
  MAX_MANIFEST_BYTES,
  MAX_SECRETS_BYTES,
  parseJsonSafely,
  toRecordsEntryName,
} from './backup-format.ts';
import { parseSealedSecrets } from './sealed-secrets.ts';
import { readEntries, type BackupEntry, toPrintableName, describeSizeLimit, Unpacker } from './unpack-entries.ts';
import type { z } from '#shared/rpc/zod.ts';
import { findPayloadProblem } from '#shared/sync/payload.ts';

/** Splits streamed UTF-8 bytes into lines. Searches each byte for the line's end only once. */
class LineSplitter {
  readonly #onLine: (line: string) => void;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  #partialLine: string[] = [];

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  add(bytes: Uint8Array): void {
    const [first = '', ...others] = this.#decode(bytes).split('\n');
    this.#partialLine.push(first);
    for (const next of others) {
      this.#onLine(this.#partialLine.join(''));
      this.#partialLine = [next];
    }
  }

  /** Requires that the last line is terminated. */
  end(): void {
    this.#partialLine.push(this.#decode());
    if (this.#partialLine.join('') !== '') throw new InvalidBackupError('the last line is incomplete');
  }

  #decode(bytes?: Uint8Array): string {
    try {
      return this.#decoder.decode(bytes, { stream: bytes !== undefined });
    } catch (error) {
      throw new InvalidBackupError('it contains text that is not UTF-8', { cause: error });
    }
  }
}

/** Allowance for the entries' headers, and for deflate's overhead on incompressible data. */
const MAX_OVERHEAD_BYTES = 64 * 1024 * 1024;

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

interface ReadBackupOptions {
  /** Maximum unpacked size in bytes. Default: derived from the file's size. */
  limit?: number | undefined;
  /** Newest schema that this build supports. */
  schema: number;
  /** Called with each verified record, before the rest of the backup is checked. */
  record?: (record: SyncRecord) => void;
}

/**
 * Reads a backup and verifies all of it: names, hashes, counts, and records against their schema. Rejects with `InvalidBackupError`, whose
 * message is one sentence.
 */
export async function readBackup(
  path: string,
  { limit: givenLimit, schema, record: onRecord = () => {} }: ReadBackupOptions,
): Promise<Backup> {
  const refuse = (reason: string, cause?: unknown): InvalidBackupError =>
    new InvalidBackupError(`Couldn’t use ${basename(path)}: ${reason}`, { cause });
  // `openAsBlob` throws synchronously if the file is missing.
  const open = async (): Promise<Blob> => openAsBlob(path);
  const file = await open().catch((error: unknown) => {
    throw refuse('the file doesn’t exist or can’t be read', error);
  });
  const limit = givenLimit ?? getUnpackLimit(file.size);
  const refusal = describeSizeLimit(limit, givenLimit === undefined);
  if (file.size > limit + MAX_OVERHEAD_BYTES) throw refuse(refusal);
  const zip = new ZipReader(new BlobReader(file), { strictness: 'strict', checkSignature: true, checkOverlappingEntry: true });
  try {
    const unpacker = new Unpacker(limit, refusal);
    const entries = await readEntries(zip);
    // Rejects before anything is unpacked. Headers may claim less than there is, so the size is also counted later.
    if ([...entries.values()].reduce((sum, { entry }) => sum + entry.uncompressedSize, 0) > limit) throw new InvalidBackupError(refusal);
    const read = await readManifest(entries, schema, unpacker);
    const sealed = await verifyEntries(entries, read, unpacker, onRecord);
    return {
      manifest: read,
      bytes: file.size,
      sealed,
      blobs: new Set([...entries.values()].flatMap(({ kind }) => (kind.kind === 'blob' ? [kind.hash] : []))),
      async blob(hash) {
        const found = entries.get(toBlobEntryName(hash));
        const unpacked = found && (await new Unpacker(limit, refusal).readEntry(found.entry));
        if (unpacked?.hash !== hash) throw refuse('the file changed while it was being read');
        return unpacked.bytes;
      },
      [Symbol.asyncDispose]: () => zip.close(),
    };
  } catch (error) {
    await zip.close().catch(() => {});
    if (error instanceof InvalidBackupError) throw refuse(error.message, error);
    throw refuse(`the file is damaged or not a backup (${error instanceof Error ? error.message : String(error)})`, error);
  }
}

async function readManifest(entries: ReadonlyMap<string, BackupEntry>, schema: number, unpacker: Unpacker): Promise<Manifest> {
  const found = entries.get(MANIFEST_NAME);
  if (!found) throw new InvalidBackupError(`${MANIFEST_NAME} is missing`);
  const { bytes } = await unpacker.readEntry(found.entry, MAX_MANIFEST_BYTES);
  const value = parseJsonSafely(bytes.toString());
  const head = manifestHeadSchema.safeParse(value);
  if (head.success && head.data.format > FORMAT)
    throw new InvalidBackupError('it was created by a newer version of Perch. Update Perch first.');
  const read = parseWithSchema(manifestSchema, value, MANIFEST_NAME);
  if (read.schema > schema) throw new InvalidBackupError('it was created by a newer version of Perch. Update Perch first.');
  for (const name of Object.keys(read.entries))
    if (name === MANIFEST_NAME || !entries.has(name)) throw new InvalidBackupError(`${toPrintableName(name)} is missing`);
  for (const name of entries.keys())
    if (name !== MANIFEST_NAME && !Object.hasOwn(read.entries, name))
      throw new InvalidBackupError(`${name} is not listed in ${MANIFEST_NAME}`);
  return read;
}

/** Unpacks and verifies everything except the manifest. Returns the sealed secrets' file. */
async function verifyEntries(
  entries: ReadonlyMap<string, BackupEntry>,
  { entries: hashes, counts }: Manifest,
  unpacker: Unpacker,
  onRecord: (record: SyncRecord) => void,
): Promise<Uint8Array | null> {
  let sealed: Uint8Array | null = null;
  const found = { records: new Map<string, number>(), blobs: 0 };
  for (const [name, { entry, kind }] of entries) {
    if (kind.kind === 'manifest') continue;
    let hash: string;
    if (kind.kind === 'records') {
      const keys = new Set<string>();
      const lines = new LineSplitter((line) => {
        const read = parseRecordLine(line, name);
        if (read.store !== kind.store || keys.has(read.key))
          throw new InvalidBackupError(`${name} contains a duplicate or misplaced record`);
        keys.add(read.key);
        onRecord(read);
      });
      hash = await unpacker.unpack(entry, (bytes) => lines.add(bytes));
      lines.end();
      found.records.set(kind.store, keys.size);
    } else if (kind.kind === 'secrets') {
      const unpacked = await unpacker.readEntry(entry, MAX_SECRETS_BYTES);
      hash = unpacked.hash;
      sealed = unpacked.bytes;
      parseSealedSecrets(sealed);
    } else {
      hash = await unpacker.unpack(entry, () => {});
      if (hash !== kind.hash) throw new InvalidBackupError('the SHA-256 of an attachment doesn’t match its name');
      found.blobs++;
    }
    if (hash !== hashes[name]) throw new InvalidBackupError(`the SHA-256 of ${name} doesn’t match ${MANIFEST_NAME}`);
  }
  const short = BACKUP_STORES.find((store) => (found.records.get(store) ?? 0) !== (counts.records[store] ?? 0));
  if (short) throw new InvalidBackupError(`the number of records in ${toRecordsEntryName(short)} doesn’t match ${MANIFEST_NAME}`);
  if (found.blobs !== counts.blobs) throw new InvalidBackupError(`the number of attachments doesn’t match ${MANIFEST_NAME}`);
  if (!sealed && counts.secrets > 0) throw new InvalidBackupError('the encrypted keys are missing');
  return sealed;
}

/** Parses a line of the entry `name`. Throws `InvalidBackupError` if it is not a record that a backup may contain. */
function parseRecordLine(line: string, name: string): SyncRecord {
  const subject = `a record in ${name}`;
  const { key, payload, ...record } = parseWithSchema(syncRecord, parseJsonSafely(line), subject);
  if (record.deleted || payload === null) throw new InvalidBackupError(`${subject} is marked as deleted`);
  const value = parseJsonSafely(payload);
  if (value === undefined) throw new InvalidBackupError(`${subject} is not JSON`);
  const problem = findPayloadProblem(record.store, key, value);
  if (problem !== undefined) throw new InvalidBackupError(`${subject} ${problem}`);
  // The journal stores well-formed Unicode.
  return { ...record, key: key.toWellFormed(), payload: payload.toWellFormed() };
}

/** Returns a value that matches a schema; undefined if the text was not JSON. Throws `InvalidBackupError` with the first problem. */
function parseWithSchema<T>(schema: z.ZodType<T>, value: unknown, subject: string): T {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  if (value === undefined) throw new InvalidBackupError(`${subject} can’t be read (not valid JSON)`);
  const [issue] = error.issues;
  throw new InvalidBackupError(
    `${subject} can’t be read (${[issue?.path.join('.'), issue?.message].filter(Boolean).join(': ').slice(0, 200)})`,
  );
}
