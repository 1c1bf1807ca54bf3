import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { configure, ZipWriter } from '@zip.js/zip.js';
import type { SequencedRecord } from '#shared/ports/journal-port.ts';
import type { Journal } from '../journal/journal.ts';
import {
  type BackupStore,
  toBlobEntryName,
  FORMAT,
  isActiveRun,
  MANIFEST_NAME,
  type Manifest,
  toRecordsEntryName,
  SECRETS_NAME,
} from './backup-format.ts';
import { sealSecrets, type Secrets, type VaultSeal } from './sealed-secrets.ts';

configure({ useWebWorkers: false });

/** Approximate number of characters per chunk of text. */
const CHUNK_CHARS = 64 * 1024;

export interface BackupInput {
  journal: Journal;
  /** Perch's version. */
  app: string;
  /** If set, the secrets are sealed with the passphrase; otherwise they are left out. */
  secrets?: { seal: VaultSeal; passphrase: string };
}

export interface BackupSummary {
  manifest: Manifest;
  /** Unpacked size in bytes. */
  unpacked: number;
  /** Names of secrets that the vault's key can't decrypt, which are left out. */
  unreadable: string[];
}

/** Writes the journal's records as of now, regardless of later writes. Uses bounded memory. */
export async function writeBackup(file: FileHandle, { journal, app, secrets }: BackupInput): Promise<BackupSummary> {
  const zip = new ZipWriter(toWritableStream(file));
  const { id, schema } = await journal.info();
  const counts: Manifest['counts'] = { records: {}, blobs: 0, secrets: 0 };
  const entries: Manifest['entries'] = {};
  const [openedSecrets, unreadable, blobs] = [[] as Secrets, [] as string[], new Set<string>()];
  let unpacked = 0;

  const add = async (name: string, content: Iterable<Uint8Array> | AsyncIterable<Uint8Array>, level?: number): Promise<void> => {
    const hash = createHash('sha256');
    const countBytes = async function* (): AsyncGenerator<Uint8Array> {
      for await (const bytes of content) {
        hash.update(bytes);
        unpacked += bytes.length;
        yield bytes;
      }
    };
    await zip.add(name, toReadableStream(countBytes()), level === undefined ? {} : { level });
    if (name !== MANIFEST_NAME) entries[name] = hash.digest('hex');
  };

  const records = journal.snapshot();
  try {
    let next = await records.next();
    /** Iterates while the records are of this store. */
    const takeStoreRecords = async function* (store: string): AsyncGenerator<SequencedRecord> {
      for (; !next.done && next.value.store === store; next = await records.next())
        if (next.value.payload !== null && !isActiveRun(next.value)) yield next.value;
    };
    const countedRecords = async function* (store: BackupStore): AsyncGenerator<SequencedRecord> {
      for await (const record of takeStoreRecords(store)) {
        counts.records[store] = (counts.records[store] ?? 0) + 1;
        for (const hash of record.blobs ?? []) blobs.add(hash);
        yield record;
      }
    };
    while (!next.done) {
      const { store } = next.value;
      if (store !== 'secrets') await add(toRecordsEntryName(store), toJsonLines(countedRecords(store)));
      else
        for await (const { key, payload } of takeStoreRecords(store)) {
          if (!secrets || payload === null) continue;
          const value = secrets.seal.open(key, payload);
          if (value === undefined) unreadable.push(key);
          else openedSecrets.push({ name: key, value });
        }
    }
  } finally {
    await records.return?.();
  }

  let missingBlobs = 0;
  for (const hash of blobs) {
    const bytes = await journal.getBlob(hash);
    if (!bytes) missingBlobs++;
    // Images and similar files do not compress, so they are stored.
    else await add(toBlobEntryName(hash), [bytes], 0);
  }
  counts.blobs = blobs.size - missingBlobs;
  counts.secrets = openedSecrets.length;
  if (secrets) await add(SECRETS_NAME, [await sealSecrets(openedSecrets, secrets.passphrase)]);
  const manifest: Manifest = { format: FORMAT, app, schema, journal: id, created: new Date().toISOString(), counts, missingBlobs, entries };
  await add(MANIFEST_NAME, [Buffer.from(JSON.stringify(manifest, null, 1))]);
  await zip.close();
  return { manifest, unpacked, unreadable };
}

/** One line per record, without fields that only have meaning in this journal. */
async function* toJsonLines(records: AsyncIterable<SequencedRecord>): AsyncGenerator<Uint8Array> {
  let text = '';
  for await (const { seq: _seq, base: _base, ...record } of records) {
    text += `${JSON.stringify(record)}\n`;
    if (text.length < CHUNK_CHARS) continue;
    yield Buffer.from(text);
    text = '';
  }
  if (text !== '') yield Buffer.from(text);
}

const toReadableStream = (pieces: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> =>
  new ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: async () => void (await pieces.return(undefined)),
  });

const toWritableStream = (file: FileHandle): WritableStream<Uint8Array> =>
  new WritableStream({
    async write(bytes) {
      for (let rest = bytes; rest.length > 0;) rest = rest.subarray((await file.write(rest)).bytesWritten);
    },
  });
