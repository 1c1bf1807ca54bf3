import type { Scope } from '#shared/rpc/scopes.ts';
import { lazy } from '../lazy.ts';
import type { Access, AccessDeps } from './access.ts';

/** Devices and keys, loaded when they are first asked for. */
export interface AccessLater {
  load(): Promise<Access>;
  /** A device or program has connected, called or gone. */
  seen(principal: string): void;
  /** A call or tool of the principal has needed a scope. */
  used(principal: string, scope: Scope): void;
  /** Scopes of a key, none if it was revoked; undefined for a principal that is no key. */
  scopes(principal: string): Promise<readonly Scope[] | undefined>;
  /** The source of what a key writes that is not allowed everything, since others may do more; none for other principals. */
  keySources(principal: string): Promise<readonly string[]>;
  /** A principal wants to call a model. Rejects where it is a key that may not (any more), as `ApiKeys.admit`; undefined where it is no key. */
  admit(principal: string, unattended?: boolean): Promise<void> | undefined;
  stop(): void;
}

export function accessLater(deps: AccessDeps): AccessLater {
  let opened: Access | undefined;
  let stopped = false;
  const load = lazy(async () => {
    const { openAccess } = await import('./access.ts');
    opened = openAccess(deps);
    if (stopped) opened.stop();
    return opened;
  });
  return {
    load,
    seen(principal) {
      if (stopped || !/^(device|key):/.test(principal)) return;
      load()
        .then(({ devices, keys }) => Promise.all([devices.seen(principal), keys.seen(principal)]))
        .catch(deps.fault);
    },
    used(principal, scope) {
      if (stopped || !principal.startsWith('key:')) return;
      load()
        .then(({ keys }) => keys.used(principal, scope))
        .catch(deps.fault);
    },
    scopes: async (principal) => (principal.startsWith('key:') ? (await load()).keys.scopes(principal) : undefined),
    keySources: async (principal) => (principal.startsWith('key:') ? (await load()).keys.sources(principal) : []),
    admit: (principal, unattended) =>
      principal.startsWith('key:') ? load().then(({ keys }) => keys.admit(principal, unattended)) : undefined,
    stop() {
      stopped = true;
      opened?.stop();
    },
  };
}
