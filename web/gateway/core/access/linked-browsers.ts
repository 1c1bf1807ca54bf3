import { type LinkedBrowser, linkedBrowsersPort } from '#shared/ports/linked-browsers.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import type { Bridge } from '../bridge.ts';

export interface LinkedBrowsersDeps {
  bridge: Bridge;
  /** Aborts everything that a principal has started. */
  abortOf(principal: string): void;
}

/** The browsers linked at the bridge. */
export class LinkedBrowsers {
  readonly #deps: LinkedBrowsersDeps;

  constructor(deps: LinkedBrowsersDeps) {
    this.#deps = deps;
  }

  /** Oldest first; empty if no bridge is attached, or it is of an older build. */
  async list(): Promise<LinkedBrowser[]> {
    const { bridge } = this.#deps;
    if (!bridge.lends(linkedBrowsersPort)) return [];
    return (await bridge.call(linkedBrowsersPort, 'linked-browsers.list', {})).browsers;
  }

  /**
   * Rejects with `NOT_FOUND`, or with `INTERNAL_ERROR` if no bridge is attached or it cannot store the change; the browser then stays
   * linked.
   */
  async unlink(id: string): Promise<void> {
    const { bridge, abortOf } = this.#deps;
    const { revoked } = await bridge.call(linkedBrowsersPort, 'linked-browsers.revoke', { id });
    if (!revoked) throw new RpcError('NOT_FOUND', 'Linked browser not found.');
    abortOf(`app:${id}`);
  }
}
