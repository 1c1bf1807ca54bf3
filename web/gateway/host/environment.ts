import type { Environment } from '../ports/environment.ts';
import { parsePlatform } from '#shared/link/browser-name.ts';

/** Describes the environment of the worker with this global scope. `credentialId`: id of the credential for the bridge. */
export function getEnvironment(scope: typeof globalThis, credentialId: () => string): Environment {
  const { navigator } = scope;
  const { browser = 'unknown', system = 'unknown' } = parsePlatform(navigator);
  // Undefined in an insecure context.
  const storage: StorageManager | undefined = navigator.storage;
  return {
    release: __PERCH_VERSION__,
    browser,
    platform: system,
    host: () => (credentialId().startsWith('headless-') ? 'headless' : 'onconnect' in scope ? 'shared-worker' : 'dedicated-worker'),
    persisted: async () => (await storage?.persisted?.().catch(() => null)) ?? null,
    async estimate() {
      const { usage, quota } = (await storage?.estimate?.().catch(() => undefined)) ?? {};
      return usage === undefined || quota === undefined ? null : { usage, quota };
    },
  };
}
