import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export type LinkSide = 'dialer' | 'acceptor';

/** Both sides' nonces. A replayed dial leads to a different key, which the attacker does not have. */
interface LinkNonces {
  dialer: Uint8Array;
  acceptor: Uint8Array;
}

/**
 * Seals a link's messages with AES-256-GCM. Each direction has its own key, derived from the vault's key and both nonces, and the message
 * number is the GCM nonce. Dropped, replayed, reordered or forged messages do not decrypt.
 */
export class LinkSeal {
  readonly #sealing: KeyObject;
  readonly #opening: KeyObject;
  #sent = 0n;
  #received = 0n;

  /** `vaultKey`: 256 bits, base64url. */
  constructor(vaultKey: string, { dialer, acceptor }: LinkNonces, side: LinkSide) {
    const salt = Buffer.concat([dialer, acceptor]);
    const derive = (from: LinkSide): KeyObject =>
      createSecretKey(Buffer.from(hkdfSync('sha256', Buffer.from(vaultKey, 'base64url'), salt, `perch cluster link from ${from}`, 32)));
    this.#sealing = derive(side);
    this.#opening = derive(side === 'dialer' ? 'acceptor' : 'dialer');
  }

  seal(kind: number, bytes: Uint8Array): Uint8Array {
    const cipher = createCipheriv('aes-256-gcm', this.#sealing, toNonce(this.#sent++));
    return Buffer.concat([cipher.update(Uint8Array.of(kind)), cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
  }

  /** Decrypts the next message. Undefined if it is not the other side's next one. */
  open(sealed: Uint8Array): { kind: number; bytes: Uint8Array } | undefined {
    if (sealed.byteLength < 1 + TAG_BYTES) return undefined;
    const decipher = createDecipheriv('aes-256-gcm', this.#opening, toNonce(this.#received), { authTagLength: TAG_BYTES });
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
    const opened = decipher.update(sealed.subarray(0, -TAG_BYTES));
    try {
      decipher.final();
    } catch {
      return undefined;
    }
    this.#received++;
    return { kind: opened[0] ?? 0, bytes: opened.subarray(1) };
  }
}

function toNonce(number: bigint): Uint8Array {
  const nonce = Buffer.alloc(NONCE_BYTES);
  nonce.writeBigUInt64BE(number, NONCE_BYTES - 8);
  return nonce;
}
