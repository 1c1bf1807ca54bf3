import { z } from '#shared/rpc/zod.ts';
import { reading, type SyncRecord, syncRecord } from '#shared/sync/record.ts';
import type { Cluster } from './connection.ts';
import type { RecordSeal } from './record-seal.ts';
import type { Known } from './state.ts';

const envelope = z.object({
  /** The schema of the vault whose record it is. */
  schema: z.number().int().min(0),
  clock: reading,
  /** The record itself, or the object that it lies in. */
  record: z.unknown().optional(),
  object: z.string().max(100).optional(),
});

/** A message of the stream, opened. */
export interface Received {
  name: string;
  known: Known;
  schema: number;
  /** Undefined where it cannot be opened, or where a newer build wrote it. */
  record: SyncRecord | undefined;
  /** It was not sealed with the vault's key for this place. */
  foreign: boolean;
}

type Places = Pick<Cluster, 'prefix' | 'objects' | 'maxBytes'>;

/** The name of a record's subject, behind the stream's prefix. */
export const nameOf = (seal: RecordSeal, { store, key }: Pick<SyncRecord, 'store' | 'key'>): string => seal.name('record', store, key);

/** A record as a message; what is too large for one is put among the objects first. */
export async function writeMessage(
  { objects, maxBytes }: Places,
  seal: RecordSeal,
  { record, schema, name }: { record: SyncRecord; schema: number; name: string },
): Promise<{ bytes: Uint8Array; object: string | null }> {
  const sealed = seal.seal(Buffer.from(JSON.stringify({ schema, clock: record.clock, record })), name);
  if (sealed.length <= maxBytes) return { bytes: sealed, object: null };
  const object = `r.${seal.name('object', name, record.clock)}`;
  await objects.putBlob({ name: object }, seal.seal(Buffer.from(JSON.stringify(record)), object));
  return { bytes: seal.seal(Buffer.from(JSON.stringify({ schema, clock: record.clock, object })), name), object };
}

export async function readMessage(
  { prefix, objects }: Places,
  seal: RecordSeal,
  { subject, seq, data }: { subject: string; seq: number; data: Uint8Array },
): Promise<Received> {
  const name = subject.slice(prefix.length);
  const nothing = { name, known: { seq, clock: '', object: null }, schema: 0, record: undefined };
  const opened = seal.open(data, name);
  const said = opened && envelope.safeParse(JSON.parse(opened.toString())).data;
  if (!said) return { ...nothing, foreign: true };
  const { schema, clock, object = null } = said;
  const known = { seq, clock, object };
  let body = said.record;
  if (object !== null) {
    const bytes = await objects.getBlob(object);
    const text = bytes && seal.open(bytes, object);
    // Its sender has replaced it by now: what it put there comes as a message of its own; or it was taken away, and the record is sent anew.
    if (!text) return { ...nothing, known: { ...known, clock: '' }, foreign: true };
    body = JSON.parse(text.toString());
  }
  const { data: record } = syncRecord.safeParse(body);
  return { name, known, schema, record, foreign: false };
}

/** What the subject of a record's name holds now. */
export async function currentMessage(
  cluster: Pick<Cluster, 'jsm' | 'stream'> & Places,
  seal: RecordSeal,
  name: string,
): Promise<Received | undefined> {
  const message = await cluster.jsm.streams.getMessage(cluster.stream, { last_by_subj: `${cluster.prefix}${name}` });
  return message ? readMessage(cluster, seal, message) : undefined;
}

/** The object of an attachment. */
export const blobObject = (seal: RecordSeal, hash: string): string => `b.${seal.name('blob', hash)}`;

/** Puts an attachment among the objects, where it is not there yet, or is older than `renew` ms. */
export async function sendBlob(
  { objects }: Pick<Cluster, 'objects'>,
  seal: RecordSeal,
  { hash, bytes, renew }: { hash: string; bytes: Uint8Array; renew: number },
): Promise<void> {
  const object = blobObject(seal, hash);
  const there = await objects.info(object);
  if (!there || there.deleted || Date.now() - Date.parse(there.mtime) >= renew)
    await objects.putBlob({ name: object }, seal.seal(bytes, object));
}

export async function fetchBlob({ objects }: Pick<Cluster, 'objects'>, seal: RecordSeal, hash: string): Promise<Uint8Array | undefined> {
  const object = blobObject(seal, hash);
  const bytes = await objects.getBlob(object);
  return (bytes && seal.open(bytes, object)) ?? undefined;
}
