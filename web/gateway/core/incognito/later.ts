import { lazy, notLoaded } from '../lazy.ts';
import type { Incognito, IncognitoDeps } from './incognito.ts';

export interface IncognitoLater {
  load(): Promise<Incognito>;
  /** `Incognito.drain`; what is loaded from then on takes nothing. */
  drain(ms: number): Promise<void>;
}

/** What answers chats that are kept nowhere, loaded with the first of them. */
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
      // What could not be loaded answers nothing.
      const made = await load().catch(() => null);
      await made?.drain(ms);
    },
  };
}
