import type { Scope } from '#shared/rpc/scopes.ts';
import type { Lazy } from '../../system/modules.ts';
import type { Access } from './access.ts';

/** What devices and keys may do, and what they did. Other principals need no records, and load nothing. */
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
}

export function createCallerRights({ load }: Lazy<Access>, fault: (error: unknown) => unknown): CallerRights {
  const isKey = (principal: string): boolean => principal.startsWith('key:');
  return {
    recordActivity(principal) {
      if (!/^(device|key):/.test(principal)) return;
      load()
        .then(({ devices, keys }) => Promise.all([devices.recordActivity(principal), keys.recordActivity(principal)]))
        .catch(fault);
    },
    recordScopeUse(principal, scope) {
      if (!isKey(principal)) return;
      load()
        .then(({ keys }) => keys.recordScopeUse(principal, scope))
        .catch(fault);
    },
    scopes: async (principal) => (isKey(principal) ? (await load()).keys.getScopes(principal) : undefined),
    keySources: async (principal) => (isKey(principal) ? (await load()).keys.getSources(principal) : []),
    admit: (principal, unattended) => (isKey(principal) ? load().then(({ keys }) => keys.admit(principal, unattended)) : undefined),
  };
}
