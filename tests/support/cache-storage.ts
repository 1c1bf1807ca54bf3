import type { CacheOpener } from '../../web/gateway/browser-models/model-store.ts';

/** A browser's Cache storage in memory, empty. */
export function createCacheStorage(): CacheOpener {
  const caches = new Map<string, Map<string, ArrayBuffer>>();
  return {
    async open(name) {
      const entries = caches.get(name) ?? new Map<string, ArrayBuffer>();
      caches.set(name, entries);
      return {
        keys: async () => [...entries.keys()].map((url) => new Request(url)),
        async match(url) {
          const bytes = entries.get(url);
          return bytes && new Response(bytes);
        },
        async put(url, response) {
          entries.set(url, await response.arrayBuffer());
        },
        delete: async (url) => entries.delete(url),
      };
    },
  };
}
