import { lazy } from '../lazy.ts';
import type { Authorizations, AuthorizationsDeps } from './authorizations.ts';

/** What waits for a person's word at other services, loaded when it is first wanted. */
export interface AuthorizationsLater {
  load(): Promise<Authorizations>;
  /** `GET /oauth/callback`: a page for whoever comes back. */
  answer(request: Request): Promise<Response>;
  stop(): void;
}

export function authorizationsLater(deps: AuthorizationsDeps): AuthorizationsLater {
  let opened: Authorizations | undefined;
  let stopped = false;
  const load = lazy(async () => {
    const { Authorizations } = await import('./authorizations.ts');
    opened = new Authorizations(deps);
    if (stopped) opened.stop();
    return opened;
  });
  return {
    load,
    async answer(request) {
      const { noticePage } = await import('#shared/http/notice-page.ts');
      const { body, ...head } = noticePage(await (await load()).answer(new URL(request.url).searchParams));
      return new Response(body, head);
    },
    stop() {
      stopped = true;
      opened?.stop();
    },
  };
}
