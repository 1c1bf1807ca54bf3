import { posix } from 'node:path';
import type { Plugin, Rolldown } from 'vite';

/** Name of the list beside the gateway's worker. Another build has another list. */
const getChunkListName = (build: string): string => `prefetch-${build}.json`;

/**
 * Chunks that the entry imports on demand, directly or by others of them, in the order in which they are found. Without the modules that
 * match `isHeavy`, and what they alone import.
 */
export function listLazyChunks(entry: Rolldown.OutputChunk, bundle: Rolldown.OutputBundle, isHeavy: (module: string) => boolean): string[] {
  const lazy = new Set<string>();
  const visited = new Set([entry.fileName]);
  for (const name of visited) {
    const chunk = bundle[name];
    if (chunk?.type !== 'chunk') continue;
    for (const imported of chunk.imports) visited.add(imported);
    for (const found of chunk.dynamicImports) {
      const target = bundle[found];
      if (target?.type !== 'chunk' || isHeavy(target.facadeModuleId ?? '')) continue;
      visited.add(found);
      lazy.add(found);
    }
  }
  return [...lazy];
}

interface WorkerChunkOptions {
  /** Path of the worker's module. */
  worker: string;
  build: string;
  /** Paths of modules that are not prefetched: they are larger than all others together, and few people need them. */
  heavy: RegExp;
}

/** Leaves a list of a worker's lazily loaded chunks beside it, which it prefetches (web/gateway/host/prefetch-chunks.ts). */
export function listWorkerChunks({ worker, build, heavy }: WorkerChunkOptions): Plugin {
  return {
    name: 'perch-worker-chunks',
    apply: 'build',
    generateBundle(_options, bundle) {
      const entry = Object.values(bundle).find(
        (chunk): chunk is Rolldown.OutputChunk => chunk.type === 'chunk' && chunk.isEntry && (chunk.facadeModuleId ?? '').includes(worker),
      );
      if (!entry) return;
      const folder = posix.dirname(entry.fileName);
      const list = listLazyChunks(entry, bundle, (module) => heavy.test(module)).map((name) => posix.relative(folder, name));
      this.emitFile({ type: 'asset', fileName: posix.join(folder, getChunkListName(build)), source: JSON.stringify(list) });
    },
  };
}
