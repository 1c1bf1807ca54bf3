import type { channelContracts } from '#shared/rpc/methods/channel-contracts.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { requirePerson } from '../../system/person.ts';
import type { ChannelRegistry } from '../../automation/channels/channel-registry.ts';
import type { LazyChannels } from '../../automation/channels/lazy-channels.ts';
import { isStartable } from '../../config/sections/channel-settings.ts';
import type { Config } from '../../config/gateway-config.ts';
import type { Handlers } from '../dispatch.ts';
import { mergePatch, createPatch } from '#shared/merge-patch.ts';
import type { LazyAuthorizations } from '../../config/oauth/lazy-authorizations.ts';

export interface ChannelMethodsDeps {
  channels: ChannelRegistry;
  running: LazyChannels;
  oauth: Pick<LazyAuthorizations, 'load'>;
  config: Pick<Config, 'edit'>;
}

export const channelMethods = ({ channels: service, running, oauth, config }: ChannelMethodsDeps): Handlers<typeof channelContracts> => {
  const status = async (channelId: string) => {
    const { id, ...state } = await service.get(channelId);
    return { channel_id: id, ...state };
  };
  const enable = async (channelId: string, enabled: boolean) => {
    await service.get(channelId);
    if (!isStartable(channelId))
      throw new RpcError(
        'INVALID_PARAMS',
        `Channel "${channelId}" can’t be started or stopped. Call channels.catalog to list the supported channels.`,
      );
    await config.edit((document) => mergePatch(document, createPatch(['channels', channelId, 'enabled'], enabled)));
    const channels = await running.load();
    if (enabled) await channels.restart(channelId);
    else await channels.refresh();
    return status(channelId);
  };
  return {
    'channels.list': async () => ({ channels: await service.list() }),

    'channels.status': ({ channelId, channel_id = channelId ?? '' }) => status(channel_id),

    'channels.start': ({ channelId }) => enable(channelId, true),

    'channels.stop': ({ channelId }) => enable(channelId, false),

    'channels.authorize': async ({ channelId }, caller) => {
      requirePerson(caller, 'authorize a channel');
      await service.get(channelId);
      return { url: await (await running.load()).authorize(channelId, await oauth.load()) };
    },

    'channels.senders': () => service.senders.list(),

    'channels.confirmSender': async ({ channelId, code }, caller) => {
      requirePerson(caller, 'confirm a sender');
      const { id: userId, name } = await service.senders.confirm(channelId, code);
      return { sender: { channelId, userId, name } };
    },

    'channels.removeSender': async ({ channelId, userId }, caller) => {
      requirePerson(caller, 'remove a sender');
      await service.senders.remove(channelId, userId);
      return { removed: true };
    },

    'channels.catalog': async () => {
      const channels = await service.listKinds();
      return { channels, count: channels.length };
    },
  };
};
