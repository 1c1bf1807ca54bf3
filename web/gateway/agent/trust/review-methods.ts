import { reviewContracts } from '#shared/rpc/methods/review-contracts.ts';
import { requirePerson } from '../../system/person.ts';
import { defineMethods } from '../../system/methods.ts';
import type { EventBus } from '../../system/event-bus.ts';
import { createSessionChangedEvent } from '../../storage/session-views.ts';
import { Reviews, type ReviewsDeps } from './reviews.ts';
import { toSessionKey } from '../../storage/chat-records.ts';

export const reviewMethods = defineMethods(reviewContracts)(({ hub, ...deps }: ReviewsDeps & { hub: EventBus }) => {
  const reviews = new Reviews(deps);
  return {
    'review.list': async ({ id }) => {
      const items = await reviews.list(id);
      return { items, count: items.length };
    },
    'review.approve': async ({ id, at }, caller) => {
      requirePerson(caller, 'approve content');
      await reviews.approve(id, at);
      return { approved: true };
    },
    'review.discard': async ({ id }, caller) => {
      requirePerson(caller, 'discard content');
      await reviews.discard(id);
      return { discarded: true };
    },
    'review.trustChat': async ({ agentId, sessionId }, caller) => {
      requirePerson(caller, 'trust a chat');
      const messages = await reviews.trustChat(agentId, sessionId);
      const key = toSessionKey(agentId, sessionId);
      hub.emit(createSessionChangedEvent(key), key);
      return { messages };
    },
  };
});
