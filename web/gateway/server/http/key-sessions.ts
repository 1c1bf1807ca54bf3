import { allowsScope } from '#shared/rpc/scopes.ts';
import type { CallerRights } from '../access/caller-rights.ts';
import type { HttpDeps } from './http-deps.ts';
import { toKeySessionId } from './request-target.ts';

/** Keys without the scope `chat` have separate sessions: the session names that they send do not reach the owner’s chats. */
export function isolateKeySessions(agents: HttpDeps['agents'], scopesFor: CallerRights['scopes']): HttpDeps['agents'] {
  return {
    list: () => agents.list(),
    async *run(request) {
      const { sessionId, principal } = request;
      const scopes = sessionId === undefined ? undefined : await scopesFor(principal);
      const isIsolated = sessionId !== undefined && scopes && !allowsScope(scopes, 'chat');
      yield* agents.run(isIsolated ? { ...request, sessionId: toKeySessionId(principal, sessionId) } : request);
    },
  };
}
