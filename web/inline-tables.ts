import { pathToFileURL } from 'node:url';
import type { Plugin } from 'vite';

/** In builds, replaces the tables computed from all contracts by their values, so that a gateway does not load the contracts for them. */
export function inlineTables(): Plugin {
  return {
    name: 'perch-literal-tables',
    apply: 'build',
    async transform(_code, id) {
      const path = id.split('?', 1)[0] ?? id;
      if (!/[\\/]shared[\\/]rpc[\\/]tables\.ts$/.test(path)) return undefined;
      const tables = (await import(pathToFileURL(path).href)) as Record<string, unknown>;
      const code = Object.entries(tables).map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`);
      return { code: code.join('\n'), map: null };
    },
  };
}
