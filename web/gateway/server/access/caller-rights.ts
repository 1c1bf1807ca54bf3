import type { Scope } from '#shared/rpc/scopes.ts';
import type { Lazy } from '../../system/modules.ts';
import type { Access } from './access.ts';

/** Scopes and activity of devices and keys. For other principals nothing is recorded or loaded. */
export interface CallerRights {
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
  /** Ends recording: the vault is about to be closed. */
  stop(): void;
}

export function createCallerRights({ load }: Lazy<Access>, fault: (error: unknown) => unknown): CallerRights {
  let stopped = false;
  const isKey = (principal: string): boolean => principal.startsWith('key:');
  return {
    recordActivity(principal) {
      if (stopped || !/^(device|key):/.test(principal)) return;
      load()
        .then(({ devices, keys }) => Promise.all([devices.recordActivity(principal), keys.recordActivity(principal)]))
        .catch(fault);
    },
    recordScopeUse(principal, scope) {
      if (stopped || !isKey(principal)) return;
      load()
        .then(({ keys }) => keys.recordScopeUse(principal, scope))
        .catch(fault);
    },
    scopes: async (principal) => (isKey(principal) ? (await load()).keys.getScopes(principal) : undefined),
    keySources: async (principal) => (isKey(principal) ? (await load()).keys.getSources(principal) : []),
    admit: (principal, unattended) => (isKey(principal) ? load().then(({ keys }) => keys.admit(principal, unattended)) : undefined),
    stop() {
      stopped = true;
    },
  };
}
