interface Importing {
  readonly isEntry: boolean;
  readonly importers: readonly string[];
}

interface Graph {
  getModuleInfo(id: string): Importing | null;
}

/**
 * Groups everything that loads at once with certain modules into one chunk of that name: their static imports, recursively, but no dynamic
 * `import()`. For a chunk group's `name`.
 */
export function loadedWith(
  chunk: string,
  isFirst: (id: string, module: Importing) => boolean,
): (id: string, graph: Graph) => string | null {
  const known = new Map<string, boolean>();
  function isLoaded(id: string, graph: Graph): boolean {
    const before = known.get(id);
    if (before !== undefined) return before;
    // Modules that import each other: the way that came here looks at the others.
    const seen = new Set([id]);
    for (const each of seen) {
      const module = graph.getModuleInfo(each);
      if (!module) continue;
      if (known.get(each) || isFirst(each, module)) {
        known.set(id, true);
        return true;
      }
      for (const importer of module.importers) if (known.get(importer) !== false) seen.add(importer);
    }
    for (const each of seen) known.set(each, false);
    return false;
  }
  return (id, graph) => (isLoaded(id, graph) ? chunk : null);
}
