import type { Scope } from '#shared/rpc/scopes.ts';
import { lazy } from '#shared/async/lazy.ts';
import type { Access, AccessDeps } from './access.ts';

/** Devices and keys, loaded on first use. */
export interface LazyAccess {
  load(): Promise<Access>;
  /** Called when a device or program has connected, made a request or disconnected. */
  recordActivity(principal: string): void;
  /** Called when a call or tool of the principal has used a scope. */
  recordScopeUse(principal: string, scope: Scope): void;
  /** Scopes of a key, none if it was revoked; undefined for a principal that is not a key. */
  scopes(principal: string): Promise<readonly Scope[] | undefined>;
  /** The source of content written by a key with limited scopes, since readers may be allowed more; none for other principals. */
  keySources(principal: string): Promise<readonly string[]>;
  /** Checks a principal before a model call. Rejects like `ApiKeys.admit`; undefined if it is not a key. */
  admit(principal: string, unattended?: boolean): Promise<void> | undefined;
  stop(): void;
}

export function createLazyAccess(deps: AccessDeps): LazyAccess {
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
    recordActivity(principal) {
      if (stopped || !/^(device|key):/.test(principal)) return;
      load()
        .then(({ devices, keys }) => Promise.all([devices.recordActivity(principal), keys.recordActivity(principal)]))
        .catch(deps.fault);
    },
    recordScopeUse(principal, scope) {
      if (stopped || !principal.startsWith('key:')) return;
      load()
        .then(({ keys }) => keys.recordScopeUse(principal, scope))
        .catch(deps.fault);
    },
    scopes: async (principal) => (principal.startsWith('key:') ? (await load()).keys.getScopes(principal) : undefined),
    keySources: async (principal) => (principal.startsWith('key:') ? (await load()).keys.getSources(principal) : []),
    admit: (principal, unattended) =>
      principal.startsWith('key:') ? load().then(({ keys }) => keys.admit(principal, unattended)) : undefined,
    stop() {
      stopped = true;
      opened?.stop();
    },
  };
}
