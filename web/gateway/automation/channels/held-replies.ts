import { type HeldReply, toReplyTool } from '../../agent/approvals/held-reply.ts';
import { toPlainText } from '../../storage/session-views.ts';
import type { Settings } from '../../config/settings-schema.ts';
import { isGranted } from '../../agent/tools/tool-policy.ts';
import { toChannelSource, toSessionSource } from '../../agent/trust/content-sources.ts';
import { removeComposedUrls } from '../../agent/trust/verbatim-urls.ts';
import type { MessageRecord } from '../../storage/chat-records.ts';
import type { IncomingMessage, PendingMessage } from '../../storage/records/channel-state.ts';

/** Maximum number of held replies per channel; further ones are dropped. */
export const MAX_HELD = 50;

type Reply = Pick<MessageRecord, 'content' | 'outside' | 'quotedUrls' | 'sessionKey'>;

/** Outside sources of a reply, except the conversation that it answers, whose content may go back there. */
function findOtherSources(
  channelId: string,
  { conversation }: Pick<IncomingMessage, 'conversation'>,
  { outside = [], sessionKey }: Reply,
): string[] {
  const own: readonly string[] = [toChannelSource(channelId, conversation), toSessionSource(sessionKey)];
  return outside.filter((source) => !own.includes(source));
}

/**
 * The sources for which a reply has to wait for approval: none if it goes only to an account of the owner, or if `tools.afterReading`
 * covers them for the channel's replies.
 */
export function findHeldSources(channelId: string, message: IncomingMessage, reply: Reply, { channels, tools }: Settings): string[] {
  const { user, conversation, isPublic, isGroup } = message;
  const isPrivate = !isPublic && (isGroup === false || conversation === user.id || conversation === `dm-${user.id}`);
  if (isPrivate && channels[channelId]?.owners?.includes(user.id)) return [];
  const sources = findOtherSources(channelId, message, reply);
  return isGranted(tools, toReplyTool(channelId), sources) ? [] : sources;
}

/**
 * The text to send. Platforms fetch previews of links, so an address that the model composed after reading from outside would leak data,
 * also in a reply to the owner; such addresses are removed. Addresses from the conversation itself stay.
 */
export function toReplyText(channelId: string, message: IncomingMessage, reply: Reply): string {
  const text = toPlainText(reply.content);
  return findOtherSources(channelId, message, reply).length > 0 ? removeComposedUrls(text, reply.quotedUrls ?? []) : text;
}

/** The approval request for a held answer: exactly what would be sent, and to whom. */
export function toHeldReply(
  channelId: string,
  { user, title }: IncomingMessage,
  { approvalId, answer, ...held }: NonNullable<PendingMessage['held']>,
  { files, ...session }: { agentId: string; sessionId: string; files: string[] },
): HeldReply {
  const to = user.name || title || user.id;
  return {
    ...{ id: approvalId, tool: toReplyTool(channelId), ...held, ...session },
    args: { to, text: answer.parts.join('\n'), ...(files.length > 0 ? { files } : {}) },
    summary: `Send a reply to ${to.replace(/\s+/g, ' ')}`,
  };
}
