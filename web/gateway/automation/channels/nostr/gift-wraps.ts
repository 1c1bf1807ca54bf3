import { schnorr } from '@noble/curves/secp256k1.js';
import { decrypt, encrypt, getConversationKey } from 'nostr-tools/nip44';
import { type EventTemplate, getEventHash, getPublicKey, type NostrEvent, verifyEvent } from 'nostr-tools/pure';
import { z } from '#shared/rpc/zod.ts';

export const KIND_SEAL = 13;
export const KIND_MESSAGE = 14;
export const KIND_FILE = 15;
export const KIND_WRAP = 1059;
/** Range of the random times of seals and gift wraps before the message's own. */
export const TIME_RANGE_S = 2 * 24 * 3600;
/** A gift wrap of a message of 64 KB is smaller. */
const MAX_CONTENT_CHARS = 200_000;

const rumorSchema = z.object({
  id: z.string(),
  pubkey: z.string(),
  created_at: z.number().int().nonnegative(),
  kind: z.number().int(),
  tags: z.array(z.array(z.string())).max(2000),
  content: z.string(),
});
/** A message without a signature: it travels inside a seal. */
export type Rumor = z.infer<typeof rumorSchema>;

const eventSchema = z.object({
  id: z.string(),
  pubkey: z.string().regex(/^[0-9a-f]{64}$/),
  created_at: z.number().int().nonnegative(),
  kind: z.number().int(),
  tags: z.array(z.array(z.string())).max(2000),
  content: z.string(),
  sig: z.string(),
});

/** A signed event of a relay; undefined if it is not one, or its signature is wrong. */
export function parseEvent(value: unknown): NostrEvent | undefined {
  const { data } = eventSchema.safeParse(value);
  return data && verifyEvent(data) ? data : undefined;
}

export const createRumor = (secretKey: Uint8Array, template: EventTemplate): Rumor => {
  const unsigned = { ...template, pubkey: getPublicKey(secretKey) };
  return { ...unsigned, id: getEventHash(unsigned) };
};

/** Signs an event. `random`: 32 bytes; the same ones give the same signature. */
export function signEvent(secretKey: Uint8Array, template: EventTemplate, random?: Uint8Array): NostrEvent {
  const rumor = createRumor(secretKey, template);
  const signature = schnorr.sign(fromHex(rumor.id), secretKey, random);
  return { ...rumor, sig: toHex(signature) };
}

export const toHex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
export const fromHex = (text: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array((text.match(/../g) ?? []).map((byte) => Number.parseInt(byte, 16)));

/**
 * Wraps a message for one recipient (NIP-59). Its keys and times look random, but follow from the sender's key, the message and the
 * recipient: wrapping it again gives an event with the same id, which relays recognize.
 */
export async function wrapRumor(secretKey: Uint8Array<ArrayBuffer>, rumor: Rumor, recipient: string): Promise<NostrEvent> {
  const text = JSON.stringify(rumor);
  const derive = await createDerivation(secretKey, `${recipient}\n${text}`);
  const chooseTime = async (label: string): Promise<number> =>
    rumor.created_at - (new DataView((await derive(label)).buffer).getUint32(0) % TIME_RANGE_S);
  const seal = signEvent(
    secretKey,
    {
      ...{ kind: KIND_SEAL, created_at: await chooseTime('seal time'), tags: [] },
      content: encrypt(text, getConversationKey(secretKey, recipient), await derive('seal nonce')),
    },
    // The signature is part of the wrapped text, so it must not be random either.
    await derive('seal signature'),
  );
  const wrapKey = await derive('wrap key');
  return signEvent(
    wrapKey,
    {
      ...{ kind: KIND_WRAP, created_at: await chooseTime('wrap time'), tags: [['p', recipient]] },
      content: encrypt(JSON.stringify(seal), getConversationKey(wrapKey, recipient), await derive('wrap nonce')),
    },
    await derive('wrap signature'),
  );
}

/** The message in a gift wrap; undefined if it cannot be decrypted, or its sender did not seal it. */
export function unwrapEvent(secretKey: Uint8Array, wrap: NostrEvent): Rumor | undefined {
  if (wrap.content.length > MAX_CONTENT_CHARS) return undefined;
  try {
    const seal = parseEvent(JSON.parse(decrypt(wrap.content, getConversationKey(secretKey, wrap.pubkey))));
    if (seal?.kind !== KIND_SEAL || seal.content.length > MAX_CONTENT_CHARS) return undefined;
    const rumor = rumorSchema.parse(JSON.parse(decrypt(seal.content, getConversationKey(secretKey, seal.pubkey))));
    // Otherwise anybody could write in the name of another sender.
    if (rumor.pubkey !== seal.pubkey) return undefined;
    return { ...rumor, id: getEventHash(rumor) };
  } catch {
    return undefined;
  }
}

/** Derives 32 bytes per label from a key and a context. */
async function createDerivation(
  secretKey: Uint8Array<ArrayBuffer>,
  context: string,
): Promise<(label: string) => Promise<Uint8Array<ArrayBuffer>>> {
  const key = await crypto.subtle.importKey('raw', secretKey, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return async (label) => new Uint8Array(await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(`${label}\n${context}`)));
}
