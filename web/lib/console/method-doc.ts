import type { Scope } from '#shared/rpc/contract.ts';

/** A method, for a person who calls it by hand. */
export interface MethodDoc {
  name: string;
  docs: string;
  scope: Scope;
  /** Whether it removes something permanently. */
  dangerous: boolean;
  /** Types as a person writes them. */
  params: string;
  result: string;
  emits: readonly string[];
  fails: readonly string[];
  /** The JSON Schema of its params. */
  schema: Readonly<Record<string, unknown>>;
  /** Params to begin with, as JSON: all that must be there. */
  example: string;
}

/** Finds methods that contain all words of `text`, grouped by the part of their name before the dot. */
export function groupByNamespace(methods: readonly MethodDoc[], text: string): Map<string, MethodDoc[]> {
  const terms = text.toLowerCase().split(/\s+/).filter(Boolean);
  const fitting = methods.filter(({ name, docs }) => {
    const about = `${name} ${docs}`.toLowerCase();
    return terms.every((word) => about.includes(word));
  });
  return Map.groupBy(fitting, ({ name }) => name.split('.')[0] ?? name);
}
