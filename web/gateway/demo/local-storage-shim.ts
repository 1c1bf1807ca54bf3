/**
 * An in-memory `localStorage` for workers, which lack one: MSW stores cookies in it. It lasts as long as the worker. Import it before MSW.
 */
const values = new Map<string, string>();
const shim = {
  getItem: (key: string): string | null => values.get(key) ?? null,
  setItem: (key: string, value: string): void => void values.set(key, value),
  removeItem: (key: string): void => void values.delete(key),
};

if (!('localStorage' in globalThis)) Object.defineProperty(globalThis, 'localStorage', { value: shim });
