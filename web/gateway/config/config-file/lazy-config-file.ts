import { configFilePort } from '#shared/ports/config-file-port.ts';
import type { ConfigFileState } from '#shared/rpc/methods/config-contracts.ts';
import { whenCapabilityAvailable } from '../../system/when-capability-available.ts';
import type { ConfigFileDeps } from './config-file.ts';

/** The configuration file, as the rest of the gateway sees it. */
export interface LazyConfigFile {
  readonly state: ConfigFileState;
  /** Checks the file, since something may have changed. */
  refresh(): void;
  stop(): void;
}

/** Keeps file and configuration in sync once there is a bridge that provides the file. */
export function createLazyConfigFile(deps: ConfigFileDeps): LazyConfigFile {
  const lazyFile = whenCapabilityAvailable(configFilePort, deps, async () => new (await import('./config-file.ts')).ConfigFile(deps));
  return {
    get state() {
      return lazyFile.feature?.state ?? { state: 'off', path: null, problem: null };
    },
    refresh: () => void lazyFile.feature?.refresh(),
    stop: () => lazyFile.stop(),
  };
}
