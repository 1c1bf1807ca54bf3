import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { Agents } from '../../agent/agents.ts';
import { toSessionKey } from '../../storage/chat-records.ts';
import { createSession, createSessionChangedEvent } from '../../storage/session-views.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import type { EventBus } from '../../system/event-bus.ts';
import { PlatformError } from '../channels/platform-request.ts';
import type { Carrier, StoredRequest } from './carrier.ts';

/** Delay before another attempt while a reply is being written in the chat. */
const BUSY_RETRY_MS = 5_000;
const NO_USAGE = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

export interface ChatCarrierDeps {
  vault: Pick<Vault, 'sessions'>;
  agents: Pick<Agents, 'get'>;
  hub: Pick<EventBus, 'emit'>;
  clock: { now(): number };
}

/** Id of the message of a delivery: storing it again has no effect. */
const toMessageId = ({ id }: StoredRequest): string => `delivery-${id}`;

/** Carries deliveries to chats of the app: each is an answer there, and is announced like one. */
export function createChatCarrier({ vault, agents, hub, clock }: ChatCarrierDeps): Carrier {
  return {
    async send(delivery, { onSent }) {
      const { target, title, text, outside = [], quotedUrls = [] } = delivery;
      if (target.kind !== 'chat') throw new Error(`A delivery for a ${target.kind} was given to the chats.`);
      const { agentId, sessionId } = target;
      const key = toSessionKey(agentId, sessionId);
      requireAgent(agents, agentId);
      const now = clock.now();
      const messageId = toMessageId(delivery);
      const isStored = await vault.sessions.append(createSession(agentId, sessionId, title ?? '', now), {
        ...{ id: messageId, sessionKey: key, role: 'assistant', timestamp: now },
        content: title === undefined ? text : `**${title}**\n\n${text}`,
        ...(outside.length > 0 ? { outside: [...outside], quotedUrls: [...quotedUrls] } : {}),
      });
      if (!isStored) throw new PlatformError('A reply is being written in this chat.', { isUnsent: true, retryAfterMs: BUSY_RETRY_MS });
      await onSent(messageId);
      hub.emit(createSessionChangedEvent(key), key);
      hub.emit({ event: 'chat.done', payload: { agentId, sessionId, runId: messageId, messageId, usage: NO_USAGE } }, key);
      return { state: 'delivered', sentIds: [messageId] };
    },

    // Storing it again would not double it.
    find: async () => null,
  };
}

function requireAgent(agents: ChatCarrierDeps['agents'], agentId: string): void {
  try {
    agents.get(agentId);
  } catch (error) {
    if (error instanceof RpcError) throw new PlatformError(error.message, { isUnsent: true, refused: true, cause: error });
    throw error;
  }
}
