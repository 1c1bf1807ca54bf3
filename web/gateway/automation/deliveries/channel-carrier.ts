import type { Settings } from '../../config/settings-schema.ts';
import type { IncomingMessage } from '../../storage/records/channel-state.ts';
import type { Lazy } from '../../system/modules.ts';
import type { ChannelAdapter, Post } from '../channels/channel-adapter.ts';
import { PlatformError } from '../channels/platform-request.ts';
import type { RunningChannels } from '../channels/running-channels.ts';
import type { Carrier, StoredRequest } from './carrier.ts';

interface ChannelCarrierDeps {
  runningChannels: Lazy<Pick<RunningChannels, 'usePosts'>>;
  settings(): Pick<Settings, 'channels'>;
}

/** Carries deliveries to chats of channels, through the connections of the running channels. */
export function createChannelCarrier({ runningChannels, settings }: ChannelCarrierDeps): Carrier {
  /** Throws `PlatformError` if the delivery cannot go there. */
  const toPost = ({ id, target, createdAt, buttons }: StoredRequest): { channelId: string; post: Post } => {
    if (target.kind !== 'channel') throw new Error(`A delivery for a ${target.kind} was given to the channels.`);
    const { channelId, to = settings().channels[channelId]?.owners?.[0] } = target;
    if (to === undefined)
      throw new PlatformError(`Add your own account to the channel "${channelId}", so that Perch knows where to write.`, {
        isUnsent: true,
        refused: true,
      });
    return { channelId, post: { id, to, createdAt, ...(buttons ? { buttons } : {}) } };
  };
  return {
    async send(delivery, { sentIds, onSent, signal }) {
      const { channelId, post } = toPost(delivery);
      return (await runningChannels.load()).usePosts(channelId, signal, async (adapter, ends) => {
        if (!adapter.post) throw createReplyOnlyError(adapter);
        const pieces = toPieces(adapter, delivery, post);
        const { buttons: _, ...plain } = post;
        const ids = [...sentIds];
        for (const [index, piece] of pieces.entries()) {
          if (index < sentIds.length) continue;
          ends.throwIfAborted();
          const sentId = await adapter.post(index === pieces.length - 1 ? post : plain, piece, { sent: ids, signal: ends });
          ids.push(sentId);
          await onSent(sentId);
        }
        return { state: adapter.confirmsPosts ? 'delivered' : 'accepted', sentIds: ids };
      });
    },

    async find(delivery, { sentIds, signal }) {
      const { channelId, post } = toPost(delivery);
      return (await runningChannels.load()).usePosts(channelId, signal, async (adapter, ends) => {
        const piece = toPieces(adapter, delivery, post)[sentIds.length];
        return piece === undefined ? null : adapter.findPosted?.(post, piece, { sent: sentIds, signal: ends });
      });
    },
  };
}

const createReplyOnlyError = ({ name }: ChannelAdapter): PlatformError =>
  new PlatformError(`${name} can only answer messages.`, { isUnsent: true, refused: true });

/** Pieces that the platform accepts; the title is the first line. */
function toPieces(adapter: ChannelAdapter, { title, text }: StoredRequest, { to, createdAt }: Post): string[] {
  const message: IncomingMessage = {
    ...{ id: '', conversation: to, user: { id: to, name: '' }, text: '', isPublic: false },
    ...{ to, title: '', at: createdAt },
  };
  return adapter.split(title === undefined ? text : `${title}\n\n${text}`, message).filter((piece) => piece.trim() !== '');
}
