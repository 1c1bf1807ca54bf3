import type { review } from '#shared/rpc/methods/review.ts';
import { requirePerson } from '../approvals/person.ts';
import type { Handlers } from '../dispatch.ts';
import type { Hub } from '../hub.ts';
import { sessionChanged } from '../sessions.ts';
import { Reviews, type ReviewsDeps } from '../trust/reviews.ts';
import { sessionKey } from '../vault.ts';

export const reviewMethods = ({ hub, ...deps }: ReviewsDeps & { hub: Hub }): Handlers<typeof review> => {
  const reviews = new Reviews(deps);
  return {
    'review.list': async () => {
      const items = await reviews.list();
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
      const key = sessionKey(agentId, sessionId);
      hub.emit(sessionChanged(key), key);
      return { messages };
    },
  };
};
