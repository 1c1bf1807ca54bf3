import { PAIRING_PRINCIPAL, findRefusal } from '#shared/rpc/contract.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { PROTOCOL_LIMITS } from '#shared/rpc/frames.ts';
import { METHOD_ACCESS } from '#shared/rpc/method-access.ts';

/** Lifetime of a pairing code. */
export const PAIRING_TIMEOUT_MS = 5 * 60_000;

/** Methods that a device may call before it is paired. */
export const PAIRING_METHODS = Object.entries(METHOD_ACCESS)
  .filter(([, policy]) => !findRefusal({ principal: PAIRING_PRINCIPAL, scopes: [] }, policy, 'write'))
  .map(([method]) => method);

/** Holds back frames from a client while its pairing code is checked. */
export class PairingGate {
  readonly #queued: string[] = [];
  #chars = 0;
  #isClosed = false;

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Queues a frame; false if the client has sent more than is allowed before admission. */
  enqueue(text: string): boolean {
    this.#queued.push(text);
    return (this.#chars += text.length) <= PROTOCOL_LIMITS.maxPayloadBeforeConnect;
  }

  /** The reason to reject the client; undefined if it is admitted. Rejects if `check` rejects. */
  async verify(check: () => Promise<boolean>): Promise<RpcError | undefined> {
    this.#isClosed = true;
    if (await check()) return undefined;
    return new RpcError('AUTH_REQUIRED', 'The pairing code is wrong, already used or expired. Create a new one.');
  }

  /** Opens the gate; returns the queued frames, in order. */
  open(): string[] {
    this.#isClosed = false;
    return this.#queued.splice(0);
  }
}
