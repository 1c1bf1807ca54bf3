import { toBase64url, fromBase64 } from '#shared/base64.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { AccessGrant } from '#shared/ports/access-port.ts';
import type { DeviceEntry, DeviceRecord, PairedRecord, PairingRecord } from '#shared/rpc/methods/device-contracts.ts';
import type { Level } from '#shared/rpc/scopes.ts';
import { sha256 } from '#shared/sha256.ts';
import type { AccessControl } from '../access/access-control.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Collection, Vault } from '../../storage/vault-interface.ts';
import { normalizePairingCode, isEqualConstantTime, createPairingCode } from '../../system/pairing-code.ts';

/** Key types with the hex prefix of their SPKI encoding; the rest is the key itself (for P-256 an uncompressed point). */
const KEY_TYPES = [
  { prefix: '302a300506032b6570032100', bytes: 44, name: 'Ed25519', algorithm: { name: 'Ed25519' } },
  {
    prefix: '3059301306072a8648ce3d020106082a8648ce3d03010703420004',
    bytes: 91,
    name: 'P-256',
    algorithm: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
  },
] as const;

/** A device's response to a code: `<public key>.<signature over the code>`, both base64url. */
interface PairingResponse {
  /** SPKI, base64url, as received. */
  publicKey: string;
  /** Whether the signature is a valid one of this key over the text. */
  verify(text: string): Promise<boolean>;
}

const toHex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

const createInvalidError = (message: string): RpcError => new RpcError('INVALID_PARAMS', `${message}.`);

const CODE_TTL_MS = 5 * 60_000;
const MAX_ATTEMPTS = 5;
/** Maximum number of pending codes; beyond it the oldest is dropped. */
const MAX_CODES = 10;
/** Interval at which a device's last activity is stored. */
const ACTIVITY_INTERVAL_MS = 60_000;

interface DevicesDeps {
  vault: Vault;
  clock: Clock;
  accessControl: AccessControl;
  fault(error: unknown): unknown;
}

/** Paired devices and pending pairings. Both are stored in the vault: a code issued by one host is valid at any other. */
export class Devices {
  readonly #deps: DevicesDeps;
  readonly #records: Collection<DeviceRecord>;
  /** Monotonic expiry times of codes by device id: a code from another host is timed from when it was first seen here. */
  readonly #deadlines = new Map<string, number>();
  /** Monotonic time of each device's last stored activity. */
  readonly #activityStoredAt = new Map<string, number>();
  readonly #timers = new Map<string, () => void>();

  constructor(deps: DevicesDeps) {
    this.#deps = deps;
    this.#records = deps.vault.collection('devices');
  }

  stop(): void {
    for (const cancel of this.#timers.values()) cancel();
  }

  /** Creates a code for a new device; `expiresAt` in milliseconds since 1970. */
  async initiate(name: string, scopes: readonly Level[]): Promise<{ code: string; expiresAt: number }> {
    const { clock } = this.#deps;
    await this.#removeExcess();
    const code = createPairingCode();
    const id = crypto.randomUUID();
    const createdAt = clock.now();
    const expiresAt = createdAt + CODE_TTL_MS;
    this.#deadlines.set(id, clock.monotonic() + CODE_TTL_MS);
    this.#timers.set(
      id,
      clock.after(CODE_TTL_MS, () => void this.#removePending(id)),
    );
    const requested = [...new Set(scopes)];
    await this.#records.put({
      state: 'pairing',
      id,
      name,
      scopes: requested,
      createdAt,
      codeHash: await hashCode(code),
      expiresAt,
      tries: 0,
    });
    return { code, expiresAt };
  }

  /** Whether there is such a code. A wrong one counts as an attempt for each pending code: any of them may have been meant. */
  async canPair(code: string): Promise<boolean> {
    const pending = await this.#listPending();
    if (findByHash(pending, await hashCode(code))) return true;
    await this.#countAttempt(pending);
    return false;
  }

  /**
   * Pairs the device that signed the code. Throws `INVALID_PARAMS` if the response is malformed or its signature does not match, and
   * `NOT_FOUND` if there is no such code or it has expired, without telling which.
   */
  async complete(code: string, response: string): Promise<{ deviceId: string; deviceToken: string }> {
    const { publicKey, verify } = await parsePairingResponse(response);
    const hash = await hashCode(code);
    const pending = await this.#listPending();
    const match = findByHash(pending, hash);
    // Count the attempt before checking the signature, so that concurrent attempts count separately.
    const charged = await this.#countAttempt(match ? [match] : pending);
    if (!match || charged === 0) throw createUnknownCodeError();
    if (!(await verify(normalizePairingCode(code))) && !(await verify(code))) {
      throw new RpcError('INVALID_PARAMS', 'The signature in `response` does not match this code and key.');
    }
    const { id, name, scopes, createdAt } = match;
    const deviceToken = toBase64url(crypto.getRandomValues(new Uint8Array(32)));
    const tokenHash = await sha256(deviceToken);
    let paired = false;
    await this.#records.update(id, (before) => {
      paired = before?.state === 'pairing';
      return paired ? { state: 'paired', id, name, scopes, createdAt, publicKey, tokenHash, lastSeenAt: null } : undefined;
    });
    if (!paired) throw createUnknownCodeError();
    this.#clearTimer(id);
    await this.#deps.accessControl.refresh();
    return { deviceId: id, deviceToken };
  }

  async list(): Promise<DeviceEntry[]> {
    const connected = await this.#deps.accessControl.listConnected();
    return (await this.#listPaired())
      .sort((a, b) => a.createdAt - b.createdAt)
      .map(({ id, name, scopes, createdAt, lastSeenAt }) => {
        return { id, name, scopes, createdAt, lastSeenAt, connected: connected.has(toPrincipal(id)) };
      });
  }

  /** Resolves when the device is revoked and its connections are closed. Throws `NOT_FOUND`. */
  async revoke(id: string): Promise<void> {
    const record = await this.#records.get(id);
    if (record?.state !== 'paired' || !(await this.#records.remove(id))) throw new RpcError('NOT_FOUND', `No device with id "${id}".`);
    await this.#deps.accessControl.revoke(toPrincipal(id));
  }

  /** Records that the principal has connected or made a request, if it is a device. */
  async recordActivity(principal: string): Promise<void> {
    const id = getDeviceId(principal);
    const { clock } = this.#deps;
    if (id === undefined || clock.monotonic() - (this.#activityStoredAt.get(id) ?? -Infinity) < ACTIVITY_INTERVAL_MS) return;
    this.#activityStoredAt.set(id, clock.monotonic());
    await this.#records.update(id, (before) => (before?.state === 'paired' ? { ...before, lastSeenAt: clock.now() } : undefined));
  }

  readonly toPrincipal = toPrincipal;

  async listGrants(): Promise<AccessGrant[]> {
    await this.#listPending();
    return (await this.#listPaired()).map(({ id, tokenHash, scopes }) => ({ principal: toPrincipal(id), tokenHash, scopes }));
  }

  async #listPaired(): Promise<PairedRecord[]> {
    return (await this.#records.list()).filter((record) => record.state === 'paired');
  }

  /** Pairings whose code is still valid. */
  async #listPending(): Promise<PairingRecord[]> {
    return (await this.#records.list()).filter((record) => record.state === 'pairing').filter((record) => this.#isValid(record));
  }

  #isValid({ id, expiresAt, tries }: PairingRecord): boolean {
    const { clock } = this.#deps;
    const remainingMs = Math.min(CODE_TTL_MS, expiresAt - clock.now());
    const deadline = this.#deadlines.get(id) ?? clock.monotonic() + remainingMs;
    this.#deadlines.set(id, deadline);
    return tries < MAX_ATTEMPTS && clock.monotonic() < deadline;
  }

  /** Counts an attempt for each; returns how many of them had one left. */
  async #countAttempt(records: readonly PairingRecord[]): Promise<number> {
    let charged = 0;
    for (const { id } of records) {
      let hasAttemptsLeft = false;
      await this.#records.update(id, (before) => {
        hasAttemptsLeft = before?.state === 'pairing' && before.tries < MAX_ATTEMPTS;
        return before?.state === 'pairing' && hasAttemptsLeft ? { ...before, tries: before.tries + 1 } : undefined;
      });
      if (hasAttemptsLeft) charged++;
    }
    return charged;
  }

  async #removeExcess(): Promise<void> {
    const good = (await this.#listPending()).sort((a, b) => b.createdAt - a.createdAt).slice(0, MAX_CODES - 1);
    const retainedIds = new Set(good.map(({ id }) => id));
    for (const { id, state } of await this.#records.list()) if (state === 'pairing' && !retainedIds.has(id)) await this.#removePending(id);
  }

  /** Removes a device that has not been paired. */
  async #removePending(id: string): Promise<void> {
    this.#clearTimer(id);
    try {
      if ((await this.#records.get(id))?.state === 'pairing') await this.#records.remove(id);
    } catch (error) {
      this.#deps.fault(error);
    }
  }

  #clearTimer(id: string): void {
    this.#timers.get(id)?.();
    this.#timers.delete(id);
    this.#deadlines.delete(id);
  }
}

const toPrincipal = (id: string): string => `device:${id}`;
const getDeviceId = (principal: string): string | undefined => /^device:(.+)$/.exec(principal)?.[1];
const hashCode = (code: string): Promise<string> => sha256(normalizePairingCode(code));

/** Compares with all of them, in constant time. */
function findByHash(pending: readonly PairingRecord[], hash: string): PairingRecord | undefined {
  let found: PairingRecord | undefined;
  for (const record of pending) if (isEqualConstantTime(record.codeHash, hash)) found = record;
  return found;
}

const createUnknownCodeError = (): RpcError =>
  new RpcError('NOT_FOUND', 'The pairing code is wrong, already used or expired. Create a new one.');

/**
 * Parses a device's response. A P-256 signature may be the concatenation of r and s (as WebCrypto produces) or DER (as most other libraries
 * do). Throws `INVALID_PARAMS`, which reveals nothing about codes.
 */
async function parsePairingResponse(response: string): Promise<PairingResponse> {
  const [, publicKey = '', encodedSignature = ''] = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/.exec(response) ?? [];
  const [spki, signature] = [decodeBytes(publicKey), decodeBytes(encodedSignature)];
  if (!spki || !signature) throw createInvalidError('`response` must be `<public key>.<signature over the code>`, both in base64url');
  const kind = KEY_TYPES.find(({ prefix, bytes }) => spki.byteLength === bytes && toHex(spki).startsWith(prefix));
  if (!kind) throw createInvalidError('The public key in `response` must be an Ed25519 or P-256 key in SPKI format');
  let key: CryptoKey;
  try {
    key = await crypto.subtle.importKey('spki', spki, kind.algorithm, false, ['verify']);
  } catch (error) {
    const unknown = error instanceof Error && error.name === 'NotSupportedError';
    throw createInvalidError(
      unknown ? `This browser can’t verify ${kind.name} keys` : `The public key in \`response\` is not a valid ${kind.name} key`,
    );
  }
  const raw = signature.byteLength === 64 ? signature : kind.name === 'P-256' ? fromDer(signature) : undefined;
  if (!raw) throw createInvalidError(`The signature in \`response\` is not a valid ${kind.name} signature`);
  return { publicKey, verify: (text) => crypto.subtle.verify(kind.algorithm, key, raw, new TextEncoder().encode(text)) };
}

/**
 * r and s, 32 bytes each, from `SEQUENCE { INTEGER r, INTEGER s }`; undefined if it is not valid DER. In rare cases a DER signature has 64
 * bytes itself: it is refused.
 */
function fromDer(der: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
  if (der[0] !== 0x30 || der[1] !== der.byteLength - 2) return undefined;
  const raw = new Uint8Array(64);
  let offset = 2;
  for (const end of [32, 64]) {
    const length = der[offset + 1] ?? 0;
    const number = der.subarray(offset + 2, offset + 2 + length);
    if (der[offset] !== 0x02 || length === 0 || number.byteLength !== length) return undefined;
    const digits = number[0] === 0 ? number.subarray(1) : number;
    if (digits.byteLength > 32) return undefined;
    raw.set(digits, end - digits.byteLength);
    offset += 2 + length;
  }
  return offset === der.byteLength ? raw : undefined;
}

function decodeBytes(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const bytes = fromBase64(text);
    return bytes.byteLength > 0 ? bytes : undefined;
  } catch {
    return undefined;
  }
}
