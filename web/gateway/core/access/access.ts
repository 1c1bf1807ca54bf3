import { CLOSE } from '#shared/rpc/frames.ts';
import type { Bridge } from '../bridge.ts';
import type { Clock } from '../clock.ts';
import { Devices } from '../devices/devices.ts';
import { ApiKeys } from '../keys/keys.ts';
import type { Runs } from '../runs/runs.ts';
import type { SyncPort } from '../sync.ts';
import type { Vault } from '../vault.ts';
import { LinkedBrowsers } from './linked-browsers.ts';
import { AccessMirror } from './access-mirror.ts';
import type { Granting } from './granting.ts';

/** The part of the live connections that access control needs. */
export interface Connected {
  principals(): readonly string[];
  close(principal: string, code: number, reason: string): void;
}

export interface AccessDeps {
  vault: Vault;
  clock: Clock;
  bridge: Bridge;
  sync: SyncPort | undefined;
  connected: Connected;
  runs: Pick<Runs, 'abortOf'>;
  timeZone(): string;
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
  const { vault, bridge, sync, connected, runs, fault } = deps;
  const mirror: AccessMirror = new AccessMirror({
    bridge,
    sync,
    fault,
    grants: async () => [...(await devices.grants()), ...(await keys.grants())],
  });
  const abortOf = (principal: string): void => runs.abortOf(principal, 'The caller’s access was revoked.');
  const end = (principal: string): void => {
    abortOf(principal);
    connected.close(principal, CLOSE.policy, 'access was revoked');
  };
  const granting: Granting = {
    changed: () => mirror.changed(),
    connected: async () => new Set([...connected.principals(), ...(await mirror.connected())]),
    async revoke(principal: string) {
      end(principal);
      await mirror.revoke(principal);
    },
  };
  const devices: Devices = new Devices({ ...deps, granting });
  const keys: ApiKeys = new ApiKeys({ ...deps, granting });
  const stopFollowing = vault.onforeign((changes) => {
    const gone = changes.flatMap(({ store, key, deleted }) => {
      if (store === 'devices') return [{ principal: devices.principalOf(key), deleted }];
      return store === 'apiKeys' ? [{ principal: keys.principalOf(key), deleted }] : [];
    });
    for (const { principal, deleted } of gone) if (deleted) end(principal);
    if (gone.length > 0) void mirror.changed();
  });
  return {
    devices,
    keys,
    browsers: new LinkedBrowsers({ bridge, abortOf }),
    stop() {
      stopFollowing();
      mirror.stop();
      devices.stop();
      keys.stop();
    },
  };
}
