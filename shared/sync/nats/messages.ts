import { z } from '../../rpc/zod.ts';
import { included } from '../conflict.ts';
import { reading, type SyncRecord, syncRecord } from '../record.ts';
import type { Places } from './places.ts';
import { openJson, sealJson, type VaultSeal } from './seal.ts';

/** Last known state of a subject. */
export interface Known {
  seq: number;
  /** Empty if it cannot be decrypted. */
  clock: string;
  /** The versions that this one includes (`included`). */
  included: string[];
  /** The object that contains the record, if it was too large for a message. */
  object: string | null;
}

const envelope = z.object({
  /** Schema of the record's vault. */
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
  /** Undefined if it cannot be decrypted, or a newer build wrote it. */
  record: SyncRecord | undefined;
  /** Not sealed with the vault's key for this subject. */
  foreign: boolean;
}

type Holds = Pick<Places, 'prefix' | 'objects' | 'maxBytes'>;

/** The name of a record's subject, behind the stream's prefix. */
export const nameOf = async (seal: VaultSeal, { store, key }: Pick<SyncRecord, 'store' | 'key'>): Promise<string> =>
  seal.name('record', store, key);

/** Converts a record to a message; one that is too large is stored as an object first. */
export async function writeMessage(
  { objects, maxBytes }: Holds,
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
export async function clockOf(
  { prefix }: Pick<Holds, 'prefix'>,
  seal: VaultSeal,
  { subject, data }: { subject: string; data: Uint8Array },
): Promise<string> {
  return (await openEnvelope(seal, data, subject.slice(prefix.length)))?.clock ?? '';
}

export async function readMessage(
  { prefix, objects }: Holds,
  seal: VaultSeal,
  { subject, seq, data }: { subject: string; seq: number; data: Uint8Array },
): Promise<Received> {
  const name = subject.slice(prefix.length);
  const nothing = { name, known: { seq, clock: '', included: [], object: null }, schema: 0, record: undefined };
  const said = await openEnvelope(seal, data, name);
  if (!said) return { ...nothing, foreign: true };
  const { schema, clock, object = null } = said;
  let body = said.record;
  if (object !== null) {
    const bytes = await objects.getBlob(object);
    body = bytes && (await openJson(seal, bytes, object));
    // Its sender has replaced it, and the new version arrives as a separate message; or it was removed, and the record is sent again.
    if (body === undefined) return { ...nothing, known: { ...nothing.known, object }, foreign: true };
  }
  const { data: record } = syncRecord.safeParse(body);
  return { name, known: { seq, clock, included: record ? included(record) : [], object }, schema, record, foreign: false };
}

/** Reads the current message of a record's subject. */
export async function currentMessage(
  places: Pick<Places, 'jsm' | 'stream'> & Holds,
  seal: VaultSeal,
  name: string,
): Promise<Received | undefined> {
  const message = await places.jsm.streams.getMessage(places.stream, { last_by_subj: `${places.prefix}${name}` });
  return message ? readMessage(places, seal, message) : undefined;
}

/** The object of an attachment. */
export const blobObject = async (seal: VaultSeal, hash: string): Promise<string> => `b.${await seal.name('blob', hash)}`;

/** Stores an attachment as an object, if it is missing or older than `renew` ms. */
export async function sendBlob(
  { objects }: Pick<Places, 'objects'>,
  seal: VaultSeal,
  { hash, bytes, renew }: { hash: string; bytes: Uint8Array; renew: number },
): Promise<void> {
  const object = await blobObject(seal, hash);
  const there = await objects.info(object);
  if (!there || there.deleted || Date.now() - Date.parse(there.mtime) >= renew)
    await objects.putBlob({ name: object }, await seal.seal(bytes, object));
}

export async function fetchBlob({ objects }: Pick<Places, 'objects'>, seal: VaultSeal, hash: string): Promise<Uint8Array | undefined> {
  const object = await blobObject(seal, hash);
  const bytes = await objects.getBlob(object);
  return (bytes && (await seal.open(bytes, object))) ?? undefined;
}
