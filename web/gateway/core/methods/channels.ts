import type { channels } from '#shared/rpc/methods/channels.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { requirePerson } from '../approvals/person.ts';
import type { Channels } from '../channels/channels.ts';
import type { LazyChannels } from '../channels/later.ts';
import { isStartable } from '../channels/settings.ts';
import type { Config } from '../config.ts';
import type { Handlers } from '../dispatch.ts';
import { mergePatch, patchAt } from '../merge.ts';
import type { AuthorizationsLater } from '../oauth/later.ts';

export interface ChannelMethodsDeps {
  channels: Channels;
  running: LazyChannels;
  oauth: Pick<AuthorizationsLater, 'load'>;
  config: Pick<Config, 'edit'>;
}

export const channelMethods = ({ channels: service, running, oauth, config }: ChannelMethodsDeps): Handlers<typeof channels> => {
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
    await config.edit((document) => mergePatch(document, patchAt(['channels', channelId, 'enabled'], enabled)));
    const channels = await running.load();
    if (enabled) await channels.restart(channelId);
    else await channels.look();
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
      const channels = await service.catalog();
      return { channels, count: channels.length };
    },
  };
};
