import { configFilePort } from '#shared/ports/config-file.ts';
import type { ConfigFileState } from '#shared/rpc/methods/config.ts';
import type { ConfigFile, ConfigFileDeps } from './config-file.ts';

/** The configuration file, as the rest of the gateway sees it. */
export interface KeptFile {
  readonly state: ConfigFileState;
  /** Something may have changed. */
  look(): void;
  stop(): void;
}

/** Keeps file and configuration the same from the time on when there is a bridge that lends the file. */
export function keepConfigFile(deps: ConfigFileDeps): KeptFile {
  const { bridge, fault } = deps;
  let kept: ConfigFile | undefined;
  let loading: Promise<void> | undefined;
  let stopped = false;
  const load = async (): Promise<void> => {
    const { ConfigFile } = await import('./config-file.ts');
    if (!stopped) kept = new ConfigFile(deps);
  };
  const begin = (): void => {
    if (kept || stopped || !bridge.lends(configFilePort)) return;
    loading ??= load()
      .catch((error: unknown) => void fault(error))
      .finally(() => (loading = undefined));
  };
  const stopWatching = bridge.watch(begin);
  begin();
  return {
    get state() {
      return kept?.state ?? { state: 'off', path: null, problem: null };
    },
    look: () => void kept?.look(),
    stop() {
      stopped = true;
      stopWatching();
      kept?.stop();
    },
  };
}
