import { createCipheriv, createDecipheriv, createHash, randomBytes, scrypt } from 'node:crypto';
import { z } from '#shared/rpc/zod.ts';
import { InvalidBackupError, parseJsonSafely } from './backup-format.ts';

/** scrypt parameters: 128 MB and about half a second per guess of a passphrase. Fixed, so that a file can't demand more. */
const SCRYPT_PARAMS = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 };
const SEAL_CONTEXT = Buffer.from('perch backup secrets 1');
const TAG_BYTES = 16;
const TAG_OPTIONS = { authTagLength: TAG_BYTES };

const base64url = z
  .string()
  .regex(/^[A-Za-z0-9_-]*$/)
  .transform((text) => Buffer.from(text, 'base64url'));
const bytes = (length: number): z.ZodType<Buffer> => base64url.refine((value) => value.length === length);

const sealedFile = z.object({
  kdf: z.literal('scrypt-17-8-1'),
  cipher: z.literal('aes-256-gcm'),
  salt: bytes(16),
  iv: bytes(12),
  data: base64url,
});
const secretList = z.array(z.object({ name: z.string().min(1).max(600), value: z.string() }));
export type Secrets = z.infer<typeof secretList>;

/** Seals secrets with a passphrase: scrypt, then AES-256-GCM. */
export async function sealSecrets(secrets: Secrets, passphrase: string): Promise<Buffer> {
  const [salt, iv] = [randomBytes(16), randomBytes(12)];
  const cipher = createCipheriv('aes-256-gcm', await deriveKey(passphrase, salt), iv, TAG_OPTIONS).setAAD(SEAL_CONTEXT);
  const data = Buffer.concat([cipher.update(JSON.stringify(secrets)), cipher.final(), cipher.getAuthTag()]);
  const [saltText, ivText, dataText] = [salt, iv, data].map((part) => part.toString('base64url'));
  return Buffer.from(JSON.stringify({ kdf: 'scrypt-17-8-1', cipher: 'aes-256-gcm', salt: saltText, iv: ivText, data: dataText }));
}

/** Rejects with `InvalidBackupError` if the passphrase is wrong or the file was changed. */
export async function unsealSecrets(file: Uint8Array, passphrase: string): Promise<Secrets> {
  const { salt, iv, data } = parseSealedSecrets(file);
  const decipher = createDecipheriv('aes-256-gcm', await deriveKey(passphrase, salt), iv, TAG_OPTIONS).setAAD(SEAL_CONTEXT);
  try {
    decipher.setAuthTag(data.subarray(-TAG_BYTES));
    const plain = Buffer.concat([decipher.update(data.subarray(0, -TAG_BYTES)), decipher.final()]);
    return secretList.parse(parseJsonSafely(plain.toString()));
  } catch (error) {
    throw new InvalidBackupError('Wrong passphrase for the keys in the backup', { cause: error });
  }
}

/** Parses a file of sealed secrets. Throws `InvalidBackupError` if it is invalid. */
export function parseSealedSecrets(file: Uint8Array): z.infer<typeof sealedFile> {
  try {
    return sealedFile.parse(parseJsonSafely(Buffer.from(file).toString()));
  } catch (error) {
    throw new InvalidBackupError('the encrypted keys are damaged', { cause: error });
  }
}

function deriveKey(passphrase: string, salt: Uint8Array): Promise<Buffer> {
  return new Promise((done, fail) =>
    scrypt(passphrase.normalize('NFKC'), salt, 32, SCRYPT_PARAMS, (error, key) => (error ? fail(error) : done(key))),
  );
}

const vaultSecret = z.object({ name: z.string(), keyId: z.string(), iv: bytes(12), data: base64url });

/** Seals and opens secrets in the journal's format: AES-GCM with the vault's key, bound to the secret's name. */
export class VaultSeal {
  readonly #key: Uint8Array;
  readonly #keyId: string;

  /** `vaultKey`: 256 bits, base64url. */
  constructor(vaultKey: string) {
    this.#key = Buffer.from(vaultKey, 'base64url');
    this.#keyId = createHash('sha256').update(this.#key).digest('hex').slice(0, 16);
  }

  /** Returns a secret's payload for the journal. */
  seal(name: string, value: string): string {
    const iv = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv, TAG_OPTIONS).setAAD(Buffer.from(name));
    const data = Buffer.concat([cipher.update(value), cipher.final(), cipher.getAuthTag()]);
    return JSON.stringify({ name, keyId: this.#keyId, iv: iv.toString('base64url'), data: data.toString('base64url') });
  }

  /** Decrypts a payload; undefined if it is damaged or sealed with another key. */
  open(name: string, payload: string): string | undefined {
    try {
      const { iv, data } = vaultSecret.parse(JSON.parse(payload));
      const decipher = createDecipheriv('aes-256-gcm', this.#key, iv, TAG_OPTIONS).setAAD(Buffer.from(name));
      decipher.setAuthTag(data.subarray(-TAG_BYTES));
      return Buffer.concat([decipher.update(data.subarray(0, -TAG_BYTES)), decipher.final()]).toString();
    } catch {
      return undefined;
    }
  }
}
