import { CLOSE_CODES } from '#shared/rpc/frames.ts';
import type { Bridge } from '../../ports/bridge-interface.ts';
import type { Clock } from '#shared/async/clock.ts';
import { Devices } from '../devices/devices.ts';
import { ApiKeys } from '../keys/api-keys.ts';
import type { Budgets } from '../../agent/budgets/budgets.ts';
import type { Lazy } from '../../system/modules.ts';
import type { Runs } from '../../agent/runs/runs.ts';
import type { SyncPort } from '../../sync/sync-port.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import { AccessMirror } from './access-mirror.ts';
import type { AccessControl } from './access-control.ts';
import { type LinkedBrowser, linkedBrowsersPort } from '#shared/ports/linked-browsers-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';

interface LinkedBrowsersDeps {
  bridge: Bridge;
  /** Aborts everything that a principal has started. */
  abortByPrincipal(principal: string): void;
}

/** The browsers linked at the bridge. */
class LinkedBrowsers {
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

/** The part of the live connections that access control needs. */
export interface LiveConnections {
  principals(): readonly string[];
  close(principal: string, code: number, reason: string): void;
}

export interface AccessDeps {
  vault: Vault;
  clock: Clock;
  bridge: Bridge;
  sync: SyncPort | undefined;
  connections: LiveConnections;
  runs: Pick<Runs, 'abortByPrincipal'>;
  budgets: Lazy<Budgets>;
  fault(error: unknown): unknown;
}

/** Principals with access besides the owner and the app: paired devices, programs with keys, and linked browsers of the app. */
export interface Access {
  devices: Devices;
  keys: ApiKeys;
  browsers: LinkedBrowsers;
  stop(): void;
}

export function openAccess(deps: AccessDeps): Access {
  const { vault, bridge, sync, connections, runs, fault } = deps;
  const mirror: AccessMirror = new AccessMirror({
    bridge,
    sync,
    fault,
    grants: async () => [...(await devices.listGrants()), ...(await keys.listGrants())],
  });
  const abortOf = (principal: string): void => runs.abortByPrincipal(principal, 'The caller’s access was revoked.');
  const disconnect = (principal: string): void => {
    abortOf(principal);
    connections.close(principal, CLOSE_CODES.policy, 'access was revoked');
  };
  const granting: AccessControl = {
    refresh: () => mirror.refresh(),
    listConnected: async () => new Set([...connections.principals(), ...(await mirror.listConnected())]),
    async revoke(principal: string) {
      disconnect(principal);
      await mirror.revoke(principal);
    },
  };
  const devices: Devices = new Devices({ ...deps, accessControl: granting });
  const keys: ApiKeys = new ApiKeys({ ...deps, accessControl: granting });
  const stopFollowing = vault.onRemoteChanges((changes) => {
    const changed = changes.flatMap(({ store, key, deleted }) => {
      if (store === 'devices') return [{ principal: devices.toPrincipal(key), deleted }];
      return store === 'apiKeys' ? [{ principal: keys.toPrincipal(key), deleted }] : [];
    });
    for (const { principal, deleted } of changed) if (deleted) disconnect(principal);
    if (changed.length > 0) void mirror.refresh();
  });
  return {
    devices,
    keys,
    browsers: new LinkedBrowsers({ bridge, abortByPrincipal: abortOf }),
    stop() {
      stopFollowing();
      mirror.stop();
      devices.stop();
      keys.stop();
    },
  };
}
