import { toScopedName } from '#lib/demo.ts';

const toKey = (key: string): string => `${toScopedName('perch')}.${key}`;

/** Small things that a browser keeps between visits. A browser that refuses storage forgets them; nothing else fails. */
export const safeLocalStorage = {
  read(key: string): string | null {
    try {
      return localStorage.getItem(toKey(key));
    } catch {
      return null;
    }
  },

  /** Whether it is kept: storage may be switched off, or full, and the value lives as long as the page. */
  write(key: string, value: string | null): boolean {
    try {
      if (value === null) localStorage.removeItem(toKey(key));
      else localStorage.setItem(toKey(key), value);
      return true;
    } catch {
      return false;
    }
  },

  /** Calls back when another tab changed the value. */
  watch(key: string, onChange: (value: string | null) => void): () => void {
    const listener = (event: StorageEvent): void => {
      if (event.key === toKey(key) || event.key === null) onChange(event.newValue);
    };
    addEventListener('storage', listener);
    return () => removeEventListener('storage', listener);
  },
};
