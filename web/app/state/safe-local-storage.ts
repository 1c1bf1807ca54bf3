import { toScopedName } from './demo.ts';

const toKey = (key: string): string => `${toScopedName('perch')}.${key}`;

/** Local storage for small values. If the browser refuses storage, values are lost, but nothing throws. */
export const safeLocalStorage = {
  read(key: string): string | null {
    try {
      return localStorage.getItem(toKey(key));
    } catch {
      return null;
    }
  },

  /** Stores a value; null removes it. Returns false if storage is switched off or full. */
  write(key: string, value: string | null): boolean {
    try {
      if (value === null) localStorage.removeItem(toKey(key));
      else localStorage.setItem(toKey(key), value);
      return true;
    } catch {
      return false;
    }
  },

  /** Calls `onChange` when another tab changes the value. Returns a function that stops it. */
  watch(key: string, onChange: (value: string | null) => void): () => void {
    const listener = (event: StorageEvent): void => {
      if (event.key === toKey(key) || event.key === null) onChange(event.newValue);
    };
    globalThis.addEventListener?.('storage', listener);
    return () => removeEventListener('storage', listener);
  },
};
