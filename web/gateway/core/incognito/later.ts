import { lazy, notLoaded } from '../lazy.ts';
import type { Incognito, IncognitoDeps } from './incognito.ts';

export interface IncognitoLater {
  load(): Promise<Incognito>;
  /** Like `Incognito.drain`; if the part is loaded later, it accepts nothing. */
  drain(ms: number): Promise<void>;
}

/** Answers incognito chats; loaded with the first of them. */
export function incognitoLater(deps: IncognitoDeps): IncognitoLater {
  let wanted = false;
  let draining = false;
  const load = lazy(async () => {
    const { Incognito } = await import('./incognito.ts').catch((cause: unknown) => Promise.reject(notLoaded(cause)));
    const made = new Incognito(deps);
    if (draining) void made.drain(0);
    return made;
  });
  return {
    load() {
      wanted = true;
      return load();
    },
    async drain(ms) {
      draining = true;
      if (!wanted) return;
      // A part that failed to load has nothing to drain.
      const made = await load().catch(() => null);
      await made?.drain(ms);
    },
  };
}
