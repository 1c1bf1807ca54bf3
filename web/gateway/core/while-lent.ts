import type { Port } from '#shared/ports/port.ts';
import type { Bridge } from './bridge.ts';

/** A part that works with something that the bridge lends. */
export interface Lent<T> {
  /** Undefined until there was a bridge that lends it. */
  readonly part: T | undefined;
  /** The same, waited for where it is being loaded. */
  loaded(): Promise<T | undefined>;
  stop(): void;
}

/** Loads a part when there is first a bridge that lends its port; it stays when the bridge goes. */
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
