import { pathToFileURL } from 'node:url';
import type { Plugin } from 'vite';

type MethodAccessModule = typeof import('../shared/rpc/method-access.ts');

/**
 * In builds, replaces the table of methods computed from all contracts by its values, so that a gateway does not load the contracts for it.
 * Methods with equal access share one entry.
 */
export function inlineMethodAccess(): Plugin {
  return {
    name: 'perch-inline-method-access',
    apply: 'build',
    async transform(_code, id) {
      const path = id.split('?', 1)[0] ?? id;
      if (!/[\\/]shared[\\/]rpc[\\/]method-access\.ts$/.test(path)) return undefined;
      const { METHOD_ACCESS } = (await import(pathToFileURL(path).href)) as MethodAccessModule;
      const groups = Map.groupBy(Object.entries(METHOD_ACCESS), ([, access]) => JSON.stringify(access));
      const entries = [...groups].map(([access, methods]) => `[${access}, ${JSON.stringify(methods.map(([method]) => method).join(' '))}]`);
      return {
        code: `export const METHOD_ACCESS = {};
for (const [access, methods] of [${entries.join(', ')}]) for (const method of methods.split(' ')) METHOD_ACCESS[method] = access;`,
        map: null,
      };
    },
  };
}
