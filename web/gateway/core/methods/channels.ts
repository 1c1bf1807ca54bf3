import type { channels } from '#shared/rpc/methods/channels.ts';
import type { Channels } from '../channels/channels.ts';
import type { Handlers } from '../dispatch.ts';

export const channelMethods = ({ channels: service }: { channels: Channels }): Handlers<typeof channels> => ({
  'channels.list': async () => ({ channels: await service.list() }),

  'channels.status': async ({ channelId, channel_id = channelId ?? '' }) => {
    const { id, ...state } = await service.get(channel_id);
    return { channel_id: id, ...state };
  },

  'channels.catalog': async () => {
    const channels = await service.catalog();
    return { channels, count: channels.length };
  },
});
