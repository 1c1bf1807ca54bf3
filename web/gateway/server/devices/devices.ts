import { toBase64url } from '#shared/base64.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { AccessGrant } from '#shared/ports/access-port.ts';
import type { DeviceEntry, DeviceRecord, PairedRecord, PairingRecord } from '#shared/rpc/methods/device-contracts.ts';
import type { Level } from '#shared/rpc/scopes.ts';
import { sha256 } from '#shared/sha256.ts';
import type { AccessControl } from '../access/access-control.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Collection, Vault } from '../../storage/vault-interface.ts';
import { normalizePairingCode, isEqualConstantTime, createPairingCode } from '../../system/pairing-code.ts';
import { parsePairingResponse } from './pairing-response.ts';

const CODE_TTL_MS = 5 * 60_000;
const MAX_ATTEMPTS = 5;
/** Maximum number of pending codes; beyond it the oldest is dropped. */
const MAX_CODES = 10;
/** Interval at which a device's last activity is stored. */
const ACTIVITY_INTERVAL_MS = 60_000;

export interface DevicesDeps {
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
