import type { Scope } from '#shared/rpc/contract.ts';

/** Documentation of a method for the console. */
export interface MethodDoc {
  name: string;
  docs: string;
  scope: Scope;
  /** Whether it removes something permanently. */
  dangerous: boolean;
  /** Type of the params in TypeScript notation. */
  params: string;
  result: string;
  emits: readonly string[];
  fails: readonly string[];
  /** The JSON Schema of its params. */
  schema: Readonly<Record<string, unknown>>;
  /** Minimal valid params, as JSON. */
  example: string;
}

/** Finds methods that contain all words of `text`, grouped by the part of their name before the dot. */
export function groupByNamespace(methods: readonly MethodDoc[], text: string): Map<string, MethodDoc[]> {
  const terms = text.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = methods.filter(({ name, docs }) => {
    const searchText = `${name} ${docs}`.toLowerCase();
    return terms.every((word) => searchText.includes(word));
  });
  return Map.groupBy(matches, ({ name }) => name.split('.')[0] ?? name);
}
