import { named } from '#lib/demo.ts';

const keyOf = (key: string): string => `${named('perch')}.${key}`;

/** Small things that a browser keeps between visits. A browser that refuses storage forgets them; nothing else fails. */
export const kept = {
  read(key: string): string | null {
    try {
      return localStorage.getItem(keyOf(key));
    } catch {
      return null;
    }
  },

  /** Whether it is kept: storage may be switched off, or full, and the value lives as long as the page. */
  write(key: string, value: string | null): boolean {
    try {
      if (value === null) localStorage.removeItem(keyOf(key));
      else localStorage.setItem(keyOf(key), value);
      return true;
    } catch {
      return false;
    }
  },

  /** Calls back when another tab changed the value. */
  watch(key: string, changed: (value: string | null) => void): () => void {
    const listener = (event: StorageEvent): void => {
      if (event.key === keyOf(key) || event.key === null) changed(event.newValue);
    };
    addEventListener('storage', listener);
    return () => removeEventListener('storage', listener);
  },
};
