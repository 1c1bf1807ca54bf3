interface ModuleImporters {
  readonly isEntry: boolean;
  readonly importers: readonly string[];
}

interface ModuleGraph {
  getModuleInfo(id: string): ModuleImporters | null;
}

/**
 * Creates the `name` function of a chunk group that puts the modules matched by `isFirst` and all their static imports into one chunk.
 * Modules that are only imported dynamically are left out.
 */
export function createChunkNamer(
  chunk: string,
  isFirst: (id: string, module: ModuleImporters) => boolean,
): (id: string, graph: ModuleGraph) => string | null {
  const cache = new Map<string, boolean>();
  function isLoaded(id: string, graph: ModuleGraph): boolean {
    const cached = cache.get(id);
    if (cached !== undefined) return cached;
    // Visits all direct and indirect importers; a set, as modules can import each other.
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
