import { z } from '../../rpc/zod.ts';
import { getAncestors } from '../conflict.ts';
import { clockReading, type SyncRecord, syncRecord } from '../record.ts';
import type { VaultStreams } from './vault-streams.ts';
import { openJson, sealJson, type VaultSeal } from './vault-seal.ts';

/** Last known state of a subject. */
export interface SubjectState {
  seq: number;
  /** Empty if it cannot be decrypted. */
  clock: string;
  /** The versions that this one includes (`getAncestors`). */
  included: string[];
  /** The object that contains the record, if it was too large for a message. */
  object: string | null;
}

const envelope = z.object({
  /** Schema of the record's vault. */
  schema: z.number().int().min(0),
  clock: clockReading,
  /** The record itself, or the object that contains it. */
  record: z.unknown().optional(),
  object: z.string().max(100).optional(),
});

/** A message of the stream, opened. */
export interface RecordMessage {
  name: string;
  known: SubjectState;
  schema: number;
  /** Undefined if it cannot be decrypted, or a newer build wrote it. */
  record: SyncRecord | undefined;
  /** Thrown if a message is not sealed with the vault's key for this subject. */
  foreign: boolean;
}

type MessageStorage = Pick<VaultStreams, 'prefix' | 'objects' | 'maxBytes'>;

/** The name of a record's subject, behind the stream's prefix. */
export const getSubjectName = async (seal: VaultSeal, { store, key }: Pick<SyncRecord, 'store' | 'key'>): Promise<string> =>
  seal.name('record', store, key);

/** Converts a record to a message; one that is too large is stored as an object first. */
export async function writeMessage(
  { objects, maxBytes }: MessageStorage,
  seal: VaultSeal,
  { record, schema, name }: { record: SyncRecord; schema: number; name: string },
): Promise<{ bytes: Uint8Array; object: string | null }> {
  const sealed = await sealJson(seal, { schema, clock: record.clock, record }, name);
  if (sealed.length <= maxBytes) return { bytes: sealed, object: null };
  const object = `r.${await seal.name('object', name, record.clock)}`;
  await objects.putBlob({ name: object }, await sealJson(seal, record, object));
  return { bytes: await sealJson(seal, { schema, clock: record.clock, object }, name), object };
}

const openEnvelope = async (seal: VaultSeal, data: Uint8Array, name: string): Promise<z.infer<typeof envelope> | undefined> =>
  envelope.safeParse(await openJson(seal, data, name)).data;

/** Clock of the version in a message or its object; empty if it cannot be decrypted. */
export async function readClock(
  { prefix }: Pick<MessageStorage, 'prefix'>,
  seal: VaultSeal,
  { subject, data }: { subject: string; data: Uint8Array },
): Promise<string> {
  return (await openEnvelope(seal, data, subject.slice(prefix.length)))?.clock ?? '';
}

export async function readMessage(
  { prefix, objects }: MessageStorage,
  seal: VaultSeal,
  { subject, seq, data }: { subject: string; seq: number; data: Uint8Array },
): Promise<RecordMessage> {
  const name = subject.slice(prefix.length);
  const unreadable = { name, known: { seq, clock: '', included: [], object: null }, schema: 0, record: undefined };
  const opened = await openEnvelope(seal, data, name);
  if (!opened) return { ...unreadable, foreign: true };
  const { schema, clock, object = null } = opened;
  let body = opened.record;
  if (object !== null) {
    const bytes = await objects.getBlob(object);
    body = bytes && (await openJson(seal, bytes, object));
    // Its sender has replaced it, and the new version arrives as a separate message; or it was removed, and the record is sent again.
    if (body === undefined) return { ...unreadable, known: { ...unreadable.known, object }, foreign: true };
  }
  const { data: record } = syncRecord.safeParse(body);
  return { name, known: { seq, clock, included: record ? getAncestors(record) : [], object }, schema, record, foreign: false };
}

/** Reads the current message of a record's subject. */
export async function readCurrentMessage(
  streams: Pick<VaultStreams, 'jsm' | 'stream'> & MessageStorage,
  seal: VaultSeal,
  name: string,
): Promise<RecordMessage | undefined> {
  const message = await streams.jsm.streams.getMessage(streams.stream, { last_by_subj: `${streams.prefix}${name}` });
  return message ? readMessage(streams, seal, message) : undefined;
}

/** The object of an attachment. */
export const getBlobObjectName = async (seal: VaultSeal, hash: string): Promise<string> => `b.${await seal.name('blob', hash)}`;

/** Stores an attachment as an object, if it is missing or older than `renewMs` ms. */
export async function sendBlob(
  { objects }: Pick<VaultStreams, 'objects'>,
  seal: VaultSeal,
  { hash, bytes, renew: renewMs }: { hash: string; bytes: Uint8Array; renew: number },
): Promise<void> {
  const object = await getBlobObjectName(seal, hash);
  const existing = await objects.info(object);
  if (!existing || existing.deleted || Date.now() - Date.parse(existing.mtime) >= renewMs)
    await objects.putBlob({ name: object }, await seal.seal(bytes, object));
}

export async function fetchBlob(
  { objects }: Pick<VaultStreams, 'objects'>,
  seal: VaultSeal,
  hash: string,
): Promise<Uint8Array | undefined> {
  const object = await getBlobObjectName(seal, hash);
  const bytes = await objects.getBlob(object);
  return (bytes && (await seal.open(bytes, object))) ?? undefined;
}
