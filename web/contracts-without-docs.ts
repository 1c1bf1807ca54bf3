import type { Plugin } from 'vite';

const CONTRACTS = /[\\/]shared[\\/](rpc[\\/]methods|ports)[\\/][\w-]+\.ts$/;
const DOCS = /^(\s+docs:) (?:'[^'\n]*'|"[^"\n]*"|`(?:[^`\\\n]|\\.)*`),$/gm;

/**
 * Removes the descriptions of contracts from builds of workers: only pages and documents show them, and they would add 2 KB to the start of
 * a gateway.
 */
export function contractsWithoutDocs(): Plugin {
  return {
    name: 'perch-contracts-without-docs',
    apply: 'build',
    enforce: 'pre',
    transform(code, id) {
      return CONTRACTS.test(id.split('?', 1)[0] ?? id) ? { code: code.replace(DOCS, "$1 '',"), map: null } : undefined;
    },
  };
}
