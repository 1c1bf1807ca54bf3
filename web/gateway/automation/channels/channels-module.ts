import { STARTABLE_CHANNELS } from '../../config/sections/channel-settings.ts';
import { defineModule } from '../../system/modules.ts';
import type { RunningChannelsDeps } from './running-channels.ts';

/** The running channels: needed once one is enabled. */
export const channelsModule = defineModule<RunningChannelsDeps>()({
  name: 'runningChannels',
  needs: [
    'config',
    'vault',
    'providers',
    'documents',
    'runs',
    'approvalService',
    'handlePress',
    'bridge',
    'clock',
    'fetch',
    'sync',
    'log',
    'fault',
  ],
  load: async (needs) => new (await import('./running-channels.ts')).RunningChannels(needs),
  wakeOn: { if: ({ config }) => STARTABLE_CHANNELS.some((id) => config.settings.channels[id]?.enabled) },
  refresh: (channels) => channels.refresh(),
  drain: (channels) => channels.stop(),
  stop: (channels) => channels.stop(),
});
