import type { Plugin } from 'vite';

const CONTRACTS = /[\\/]shared[\\/](rpc[\\/]methods|ports)[\\/][\w-]+\.ts$/;
const DOCS = /^(\s+docs:) (?:'[^'\n]*'|"[^"\n]*"|`(?:[^`\\\n]|\\.)*`),$/gm;

/** In builds of workers contracts do not say what they are for: that is for people, who read it in pages and documents, and a gateway would load 2 KB of it first of all. */
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
