import { lazy } from '#shared/async/lazy.ts';
import type { RunningChannels, RunningChannelsDeps } from './running-channels.ts';
import { STARTABLE_CHANNELS } from '../../config/sections/channel-settings.ts';

/** The running channels; the code is loaded when one is enabled. */
export interface LazyChannels {
  load(): Promise<RunningChannels>;
  /** The loaded part; undefined until a channel was enabled. */
  current(): RunningChannels | undefined;
  /** Called when the settings may have changed. */
  refresh(): void;
  stop(): void;
}

export function createLazyChannels(deps: RunningChannelsDeps): LazyChannels {
  const { config, fault } = deps;
  let channels: RunningChannels | undefined;
  let stopped = false;
  const load = lazy(async () => {
    const { RunningChannels } = await import('./running-channels.ts');
    channels = new RunningChannels(deps);
    if (stopped) await channels.stop();
    return channels;
  });
  return {
    load,
    current: () => channels,
    refresh() {
      if (stopped || (!channels && !STARTABLE_CHANNELS.some((id) => config.settings.channels[id]?.enabled))) return;
      load()
        .then((running) => running.refresh())
        .catch(fault);
    },
    stop() {
      stopped = true;
      channels?.stop().catch(fault);
    },
  };
}
