import { Visitor, parseSync } from 'rolldown/utils';
import type { Plugin } from 'vite';

const CONTRACT_FILES = /[\\/]shared[\\/](rpc[\\/]methods|ports)[\\/][\w-]+\.ts$/;

/**
 * Removes the descriptions of contracts (`docs` properties) from worker builds. Only pages and documentation show them, and they would add
 * 2.5 KB to the initial load of a gateway.
 */
export function stripContractDocs(): Plugin {
  return {
    name: 'perch-contracts-without-docs',
    apply: 'build',
    enforce: 'pre',
    transform(code, id) {
      const path = id.split('?', 1)[0] ?? id;
      if (!CONTRACT_FILES.test(path)) return undefined;
      const texts: { start: number; end: number }[] = [];
      const visitor = new Visitor({
        Property({ key, value }) {
          if (key.type === 'Identifier' && key.name === 'docs' && /^(?:Literal|TemplateLiteral)$/.test(value.type)) texts.push(value);
        },
      });
      visitor.visit(parseSync(path, code).program);
      let end = 0;
      const kept = texts.map((text) => {
        const before = code.slice(end, text.start);
        end = text.end;
        return before;
      });
      return { code: [...kept, code.slice(end)].join("''"), map: null };
    },
  };
}
