import { channelContracts } from '#shared/rpc/methods/channel-contracts.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { requirePerson } from '../../system/person.ts';
import type { ChannelRegistry } from './channel-registry.ts';
import type { RunningChannels } from './running-channels.ts';
import { isStartable } from '../../config/sections/channel-settings.ts';
import type { Config } from '../../config/gateway-config.ts';
import { defineMethods } from '../../system/methods.ts';
import { mergePatch, createPatch } from '#shared/merge-patch.ts';
import type { Authorizations } from '../../config/oauth/authorizations.ts';
import type { Lazy } from '../../system/modules.ts';

interface ChannelMethodsDeps {
  channels: ChannelRegistry;
  runningChannels: Lazy<RunningChannels>;
  authorizations: Lazy<Authorizations>;
  config: Pick<Config, 'edit'>;
}

export const channelMethods = defineMethods(channelContracts)(({
  channels: service,
  runningChannels,
  authorizations,
  config,
}: ChannelMethodsDeps) => {
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
    const channels = await runningChannels.load();
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
      return { url: await (await runningChannels.load()).authorize(channelId, await authorizations.load()) };
    },

    'channels.senders': async () => (await service.senders()).list(),

    'channels.confirmSender': async ({ channelId, code }, caller) => {
      requirePerson(caller, 'confirm a sender');
      const { id: userId, name } = await (await service.senders()).confirm(channelId, code);
      return { sender: { channelId, userId, name } };
    },

    'channels.removeSender': async ({ channelId, userId }, caller) => {
      requirePerson(caller, 'remove a sender');
      await (await service.senders()).remove(channelId, userId);
      return { removed: true };
    },

    'channels.catalog': async () => {
      const channels = await service.listKinds();
      return { channels, count: channels.length };
    },
  };
});
