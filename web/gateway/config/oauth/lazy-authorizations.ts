import { lazy } from '#shared/async/lazy.ts';
import type { Authorizations, AuthorizationsDeps } from './authorizations.ts';

/** Pending authorizations, loaded on first use. */
export interface LazyAuthorizations {
  load(): Promise<Authorizations>;
  /** Handles `GET /oauth/callback` with a page for the person. */
  handleCallback(request: Request): Promise<Response>;
  stop(): void;
}

export function createLazyAuthorizations(deps: AuthorizationsDeps): LazyAuthorizations {
  let authorizations: Authorizations | undefined;
  let stopped = false;
  const load = lazy(async () => {
    const { Authorizations } = await import('./authorizations.ts');
    authorizations = new Authorizations(deps);
    if (stopped) authorizations.stop();
    return authorizations;
  });
  return {
    load,
    async handleCallback(request) {
      const { renderNoticePage } = await import('#shared/http/notice-page.ts');
      const { body, ...head } = renderNoticePage(await (await load()).handleCallback(new URL(request.url).searchParams));
      return new Response(body, head);
    },
    stop() {
      stopped = true;
      authorizations?.stop();
    },
  };
}
