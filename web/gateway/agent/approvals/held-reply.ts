import { CHANNEL_REPLY_PREFIX } from '#shared/channel-reply.ts';
import type { ApprovalRecord } from '../../storage/vault-interface.ts';

/** A channel's reply that waits for approval: its tool name is `channel_reply:<channel>`, which `tools.afterReading` may contain. */
export type HeldReply = Pick<ApprovalRecord, 'id' | 'tool' | 'args' | 'summary' | 'agentId' | 'sessionId' | 'runId' | 'expiresAt'> & {
  /** The outside sources that make the approval necessary. */
  outside: string[];
};

export const toReplyTool = (channelId: string): string => `${CHANNEL_REPLY_PREFIX}${channelId}`;

export const isHeldReply = (tool: string): boolean => tool.startsWith(CHANNEL_REPLY_PREFIX);
