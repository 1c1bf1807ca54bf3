import { lazy } from '../lazy.ts';
import type { Access, AccessDeps } from './access.ts';

/** Devices and keys, loaded when they are first asked for. */
export interface AccessLater {
  load(): Promise<Access>;
  /** A device or program has connected, called or gone. */
  seen(principal: string): void;
  /** A principal wants to call a model. Throws where it is a key that may not (any more), as `ApiKeys.admit`. */
  admit(principal: string): Promise<void>;
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
    async admit(principal) {
      if (principal.startsWith('key:')) await (await load()).keys.admit(principal);
    },
    stop() {
      stopped = true;
      opened?.stop();
    },
  };
}
