/** What MSW keeps cookies in, which workers lack; it lasts as long as the worker. Imported before MSW. */
const kept = new Map<string, string>();
const shim: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> = {
  getItem: (key) => kept.get(key) ?? null,
  setItem: (key, value) => void kept.set(key, value),
  removeItem: (key) => void kept.delete(key),
};

if (typeof localStorage === 'undefined') Object.defineProperty(globalThis, 'localStorage', { value: shim });
