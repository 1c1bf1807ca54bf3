import { type LinkedBrowser, linkedBrowsersPort } from '#shared/ports/linked-browsers.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import type { Bridge } from '../bridge.ts';

export interface LinkedBrowsersDeps {
  bridge: Bridge;
  /** Ends what a principal has asked for. */
  abortOf(principal: string): void;
}

/** The browsers that the bridge has linked. */
export class LinkedBrowsers {
  readonly #deps: LinkedBrowsersDeps;

  constructor(deps: LinkedBrowsersDeps) {
    this.#deps = deps;
  }

  /** Oldest first; none where there is no bridge, or one of an older build. */
  async list(): Promise<LinkedBrowser[]> {
    const { bridge } = this.#deps;
    if (!bridge.lends(linkedBrowsersPort)) return [];
    return (await bridge.call(linkedBrowsersPort, 'linked-browsers.list', {})).browsers;
  }

  /** Rejects with `NOT_FOUND`, and with `INTERNAL_ERROR` where there is no bridge, or it cannot store it: then the browser stays linked. */
  async unlink(id: string): Promise<void> {
    const { bridge, abortOf } = this.#deps;
    const { revoked } = await bridge.call(linkedBrowsersPort, 'linked-browsers.revoke', { id });
    if (!revoked) throw new RpcError('NOT_FOUND', 'Linked browser not found.');
    abortOf(`app:${id}`);
  }
}
