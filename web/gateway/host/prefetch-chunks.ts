import { z } from '#shared/rpc/zod.ts';

/**
 * Preloads the worker's chunks one after another, so that they are available if the server goes away or the build is replaced. The build
 * writes their list (web/list-worker-chunks.ts). Chunks that fail to load are tried again on use. Resolves with whether
 * all were loaded.
 */
export async function prefetchChunks(): Promise<boolean> {
  let isComplete = true;
  const base = globalThis.location.href;
  const response = await fetch(new URL(`prefetch-${__PERCH_BUILD__}.json`, base)).catch(() => undefined);
  // A development server has no list, and a server of another build has another one.
  if (!response?.ok) return false;
  const names = z.array(z.string()).parse(await response.json());
  for (const name of names) await import(/* @vite-ignore */ new URL(name, base).href).catch(() => (isComplete = false));
  return isComplete;
}
