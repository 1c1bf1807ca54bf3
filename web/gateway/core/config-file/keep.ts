import { configFilePort } from '#shared/ports/config-file.ts';
import type { ConfigFileState } from '#shared/rpc/methods/config.ts';
import { whileLent } from '../while-lent.ts';
import type { ConfigFileDeps } from './config-file.ts';

/** The configuration file, as the rest of the gateway sees it. */
export interface KeptFile {
  readonly state: ConfigFileState;
  /** Checks the file, since something may have changed. */
  look(): void;
  stop(): void;
}

/** Keeps file and configuration in sync once there is a bridge that provides the file. */
export function keepConfigFile(deps: ConfigFileDeps): KeptFile {
  const kept = whileLent(configFilePort, deps, async () => new (await import('./config-file.ts')).ConfigFile(deps));
  return {
    get state() {
      return kept.part?.state ?? { state: 'off', path: null, problem: null };
    },
    look: () => void kept.part?.look(),
    stop: () => kept.stop(),
  };
}
