import type { Port } from '#shared/ports/port.ts';
import type { Bridge } from './bridge.ts';

/** A part that depends on a capability of the bridge. */
export interface Lent<T> {
  /** Undefined until a bridge provides the capability. */
  readonly part: T | undefined;
  /** The same, after waiting for a load in progress. */
  loaded(): Promise<T | undefined>;
  stop(): void;
}

/** Loads a part when a bridge first provides its port; the part stays when the bridge detaches. */
export function whileLent<T extends { stop(): void }>(
  port: Pick<Port, 'kind'>,
  { bridge, fault }: { bridge: Bridge; fault(error: unknown): unknown },
  load: () => Promise<T>,
): Lent<T> {
  let part: T | undefined;
  let loading: Promise<void> | undefined;
  let stopped = false;
  const begin = (): void => {
    if (part || stopped || !bridge.lends(port)) return;
    loading ??= load()
      .then((loaded) => {
        if (stopped) loaded.stop();
        else part = loaded;
      })
      .catch((error: unknown) => void fault(error))
      .finally(() => (loading = undefined));
  };
  const stopWatching = bridge.watch(begin);
  begin();
  return {
    get part() {
      return part;
    },
    async loaded() {
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
