import { lazy } from '../lazy.ts';
import type { Authorizations, AuthorizationsDeps } from './authorizations.ts';

/** Pending authorizations, loaded on first use. */
export interface AuthorizationsLater {
  load(): Promise<Authorizations>;
  /** Handles `GET /oauth/callback` with a page for the person. */
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
