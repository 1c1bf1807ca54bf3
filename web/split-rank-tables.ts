// Vite plugin that loads the tables of tokenizers in pieces.
import { pathToFileURL } from 'node:url';
import type { Plugin } from 'vite';
import { z } from 'zod';

const tablePattern = z.object({ default: z.array(z.union([z.string(), z.array(z.number())])) });
/** Number of entries per piece. Parsing one takes less than a millisecond. */
const CHUNK_ENTRIES = 2000;

/** Creates a module that parses the table in pieces and yields every 8 ms. A single literal would block a browser for 0.1 s or more. */
const splitTable = (pieces: readonly string[]): string => `
const pieces = [${pieces.map((piece) => JSON.stringify(piece)).join(',\n')}];
const ranks = [];
let since = performance.now();
for (const piece of pieces) {
  ranks.push(...JSON.parse(piece));
  if (performance.now() - since < 8) continue;
  const { port1, port2 } = new MessageChannel();
  await new Promise((resolve) => {
    port1.onmessage = resolve;
    port2.postMessage(null);
  });
  port1.close();
  since = performance.now();
}
pieces.length = 0;
export default ranks;
`;

/**
 * In builds, splits the tables of tokenizers into pieces so that a worker's other tasks can run in between. Their exports are unchanged.
 */
export function splitRankTables(): Plugin {
  return {
    name: 'perch-rank-tables',
    apply: 'build',
    async transform(_code, id) {
      const path = id.split('?', 1)[0] ?? id;
      if (!/[\\/]gpt-tokenizer[\\/]esm[\\/]bpeRanks[\\/]\w+\.js$/.test(path)) return undefined;
      const module: unknown = await import(pathToFileURL(path).href);
      const { default: ranks } = tablePattern.parse(module);
      const pieces: string[] = [];
      for (let at = 0; at < ranks.length; at += CHUNK_ENTRIES) pieces.push(JSON.stringify(ranks.slice(at, at + CHUNK_ENTRIES)));
      return { code: splitTable(pieces), map: null };
    },
  };
}
