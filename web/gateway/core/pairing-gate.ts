import { PAIRING, findRefusal } from '#shared/rpc/contract.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { LIMITS } from '#shared/rpc/frames.ts';
import { POLICIES } from '#shared/rpc/tables.ts';

/** Lifetime of a pairing code. */
export const PAIRING_MS = 5 * 60_000;

/** Methods that a device may call before it is paired. */
export const PAIRING_METHODS = Object.entries(POLICIES)
  .filter(([, policy]) => !findRefusal({ principal: PAIRING, scopes: [] }, policy, 'write'))
  .map(([method]) => method);

/** Holds back frames from a client while its pairing code is checked. */
export class PairingGate {
  readonly #early: string[] = [];
  #chars = 0;
  #shut = false;

  get shut(): boolean {
    return this.#shut;
  }

  /** Queues a frame; false if the client has sent more than is allowed before admission. */
  hold(text: string): boolean {
    this.#early.push(text);
    return (this.#chars += text.length) <= LIMITS.maxPayloadBeforeConnect;
  }

  /** The reason to reject the client; undefined if it is admitted. Rejects if `look` rejects. */
  async refusal(look: () => Promise<boolean>): Promise<RpcError | undefined> {
    this.#shut = true;
    if (await look()) return undefined;
    return new RpcError('AUTH_REQUIRED', 'The pairing code is wrong, already used or expired. Create a new one.');
  }

  /** Opens the gate; returns the queued frames, in order. */
  open(): string[] {
    this.#shut = false;
    return this.#early.splice(0);
  }
}
