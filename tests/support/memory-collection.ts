import type { Collection } from '../../web/gateway/storage/vault-interface.ts';

/** Creates a collection in memory; `records` is its content. */
export function createMemoryCollection<T extends { id: string }>(): Collection<T> & { records: Map<string, T> } {
  const records = new Map<string, T>();
  return {
    records,
    get: async (key) => structuredClone(records.get(key)),
    list: async (prefix = '') =>
      [...records]
        .filter(([key]) => key.startsWith(prefix))
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([, record]) => structuredClone(record)),
    keys: async (prefix = '') => [...records.keys()].filter((key) => key.startsWith(prefix)).sort(),
    put: async (record) => void records.set(record.id, structuredClone(record)),
    async update(key, change) {
      const after = change(records.get(key));
      if (after !== undefined) records.set(after.id, after);
      return after ?? records.get(key);
    },
    remove: async (key) => records.delete(key),
  };
}
