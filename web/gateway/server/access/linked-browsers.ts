import { type LinkedBrowser, linkedBrowsersPort } from '#shared/ports/linked-browsers-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { Bridge } from '../../ports/bridge-interface.ts';

export interface LinkedBrowsersDeps {
  bridge: Bridge;
  /** Aborts everything that a principal has started. */
  abortByPrincipal(principal: string): void;
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
    if (!bridge.provides(linkedBrowsersPort)) return [];
    return (await bridge.call(linkedBrowsersPort, 'linked-browsers.list', {})).browsers;
  }

  /**
   * Rejects with `NOT_FOUND`, or with `INTERNAL_ERROR` if no bridge is attached or it cannot store the change; the browser then stays
   * linked.
   */
  async unlink(id: string): Promise<void> {
    const { bridge, abortByPrincipal } = this.#deps;
    const { revoked } = await bridge.call(linkedBrowsersPort, 'linked-browsers.revoke', { id });
    if (!revoked) throw new RpcError('NOT_FOUND', 'Linked browser not found.');
    abortByPrincipal(`app:${id}`);
  }
}
