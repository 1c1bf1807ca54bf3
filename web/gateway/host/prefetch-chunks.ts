import { z } from '#shared/rpc/zod.ts';

/**
 * Preloads the worker's chunks one after another, so that they are available if the server goes away or the build is replaced. The build
 * writes their list (web/list-worker-chunks.ts), without large ones. Chunks that fail to load are tried again on use. Resolves with whether
 * all were loaded.
 */
export async function prefetchChunks(): Promise<boolean> {
  if (import.meta.env.DEV) return true;
  let isComplete = true;
  const base = globalThis.location.href;
  const response = await fetch(new URL(`prefetch-${__PERCH_BUILD__}.json`, base));
  const names = z.array(z.string()).parse(await response.json());
  for (const name of names) await import(/* @vite-ignore */ new URL(name, base).href).catch(() => (isComplete = false));
  return isComplete;
}
