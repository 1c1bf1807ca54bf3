import { lazy } from '../lazy.ts';
import type { RunningChannels, RunningChannelsDeps } from './running-channels.ts';
import { STARTABLE } from './settings.ts';

/** The channels that run, whose code is fetched when one is switched on. */
export interface LazyChannels {
  load(): Promise<RunningChannels>;
  /** Those that there are; undefined while none was ever switched on. */
  now(): RunningChannels | undefined;
  /** The settings may have changed. */
  look(): void;
  stop(): void;
}

export function channelsLater(deps: RunningChannelsDeps): LazyChannels {
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
    now: () => channels,
    look() {
      if (stopped || (!channels && !STARTABLE.some((id) => config.settings.channels[id]?.enabled))) return;
      load()
        .then((there) => there.look())
        .catch(fault);
    },
    stop() {
      stopped = true;
      channels?.stop().catch(fault);
    },
  };
}
