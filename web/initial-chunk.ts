interface ModuleImporters {
  readonly isEntry: boolean;
  readonly importers: readonly string[];
}

interface ModuleGraph {
  getModuleInfo(id: string): ModuleImporters | null;
}

/**
 * Groups everything that loads at once with certain modules into one chunk of that name: their static imports, recursively, but no dynamic
 * `import()`. For a chunk group's `name`.
 */
export function createChunkNamer(
  chunk: string,
  isFirst: (id: string, module: ModuleImporters) => boolean,
): (id: string, graph: ModuleGraph) => string | null {
  const cache = new Map<string, boolean>();
  function isLoaded(id: string, graph: ModuleGraph): boolean {
    const cached = cache.get(id);
    if (cached !== undefined) return cached;
    // Modules that import each other: the way that came here looks at the others.
    const visited = new Set([id]);
    for (const each of visited) {
      const module = graph.getModuleInfo(each);
      if (!module) continue;
      if (cache.get(each) || isFirst(each, module)) {
        cache.set(id, true);
        return true;
      }
      for (const importer of module.importers) if (cache.get(importer) !== false) visited.add(importer);
    }
    for (const each of visited) cache.set(each, false);
    return false;
  }
  return (id, graph) => (isLoaded(id, graph) ? chunk : null);
}
