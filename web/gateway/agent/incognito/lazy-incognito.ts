import { lazy, createNotLoadedError } from '#shared/async/lazy.ts';
import type { IncognitoService, IncognitoServiceDeps } from './incognito-service.ts';

export interface LazyIncognito {
  load(): Promise<IncognitoService>;
  /** Like `IncognitoService.drain`; if the part is loaded later, it accepts nothing. */
  drain(ms: number): Promise<void>;
}

/** Answers incognito chats; loaded with the first of them. */
export function createLazyIncognito(deps: IncognitoServiceDeps): LazyIncognito {
  let isRequested = false;
  let draining = false;
  const load = lazy(async () => {
    const { IncognitoService } = await import('./incognito-service.ts').catch((cause: unknown) =>
      Promise.reject(createNotLoadedError(cause)),
    );
    const incognito = new IncognitoService(deps);
    if (draining) void incognito.drain(0);
    return incognito;
  });
  return {
    load() {
      isRequested = true;
      return load();
    },
    async drain(ms) {
      draining = true;
      if (!isRequested) return;
      // A part that failed to load has nothing to drain.
      const incognito = await load().catch(() => null);
      await incognito?.drain(ms);
    },
  };
}
