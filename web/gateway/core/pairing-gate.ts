import { PAIRING, findRefusal } from '#shared/rpc/contract.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { LIMITS } from '#shared/rpc/frames.ts';
import { POLICIES } from '#shared/rpc/tables.ts';

/** As long as a pairing code lives. */
export const PAIRING_MS = 5 * 60_000;

/** What a device may call that is not paired yet. */
export const PAIRING_METHODS = Object.entries(POLICIES)
  .filter(([, policy]) => !findRefusal({ principal: PAIRING, scopes: [] }, policy, 'write'))
  .map(([method]) => method);

/** Holds up what a client sends while the pairing code that it has shown is looked at. */
export class PairingGate {
  readonly #early: string[] = [];
  #chars = 0;
  #shut = false;

  get shut(): boolean {
    return this.#shut;
  }

  /** Takes a frame; false: that is more than anyone may send before they are let in. */
  hold(text: string): boolean {
    this.#early.push(text);
    return (this.#chars += text.length) <= LIMITS.maxPayloadBeforeConnect;
  }

  /** Why the client is not let in; what `look` throws is thrown. */
  async refusal(look: () => Promise<boolean>): Promise<RpcError | undefined> {
    this.#shut = true;
    if (await look()) return undefined;
    return new RpcError('AUTH_REQUIRED', 'The pairing code is wrong, already used or expired. Create a new one.');
  }

  /** Opens it: what came meanwhile, in order. */
  open(): string[] {
    this.#shut = false;
    return this.#early.splice(0);
  }
}
