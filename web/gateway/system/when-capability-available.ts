import type { Port } from '#shared/ports/port.ts';
import type { Bridge } from '../ports/bridge-interface.ts';

/** A part that depends on a capability of the bridge. */
export interface CapabilityFeature<T> {
  /** Undefined until a bridge provides the capability. */
  readonly feature: T | undefined;
  /** The same, after waiting for a load in progress. */
  waitUntilLoaded(): Promise<T | undefined>;
  stop(): void;
}

/** Loads a part when a bridge first provides its port; the part stays when the bridge detaches. */
export function whenCapabilityAvailable<T extends { stop(): void }>(
  port: Pick<Port, 'kind'>,
  { bridge, fault }: { bridge: Bridge; fault(error: unknown): unknown },
  load: () => Promise<T>,
): CapabilityFeature<T> {
  let part: T | undefined;
  let loading: Promise<void> | undefined;
  let stopped = false;
  const loadIfAvailable = (): void => {
    if (part || stopped || !bridge.provides(port)) return;
    loading ??= load()
      .then((loaded) => {
        if (stopped) loaded.stop();
        else part = loaded;
      })
      .catch((error: unknown) => void fault(error))
      .finally(() => (loading = undefined));
  };
  const stopWatching = bridge.watch(loadIfAvailable);
  loadIfAvailable();
  return {
    get feature() {
      return part;
    },
    async waitUntilLoaded() {
      await loading;
      return part;
    },
    stop() {
      stopped = true;
      stopWatching();
      part?.stop();
    },
  };
}
