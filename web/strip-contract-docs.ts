import type { Plugin } from 'vite';

const CONTRACT_FILES = /[\\/]shared[\\/](rpc[\\/]methods|ports)[\\/][\w-]+\.ts$/;
const DOCS_PROPERTY = /^(\s+docs:) (?:'[^'\n]*'|"[^"\n]*"|`(?:[^`\\\n]|\\.)*`),$/gm;

/**
 * Removes the descriptions of contracts from worker builds. Only pages and documentation show them, and they would add 2 KB to the initial
 * load of a gateway.
 */
export function stripContractDocs(): Plugin {
  return {
    name: 'perch-contracts-without-docs',
    apply: 'build',
    enforce: 'pre',
    transform(code, id) {
      return CONTRACT_FILES.test(id.split('?', 1)[0] ?? id) ? { code: code.replace(DOCS_PROPERTY, "$1 '',"), map: null } : undefined;
    },
  };
}
