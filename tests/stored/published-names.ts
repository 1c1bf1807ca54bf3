import { join } from 'node:path';
import ts from 'typescript';

/** Sources of the package's entries, by the name that programs import. */
const ENTRIES: Readonly<Record<string, string>> = {
  'perch/client': 'shared/client/index.ts',
  'perch/memory (Node)': 'bridge/library/memory.ts',
  'perch/memory (browser)': 'web/library/memory.ts',
  'perch/memory/active-recall': 'web/library/active-recall.ts',
  'perch/memory/wiki (Node)': 'bridge/library/wiki.ts',
  'perch/memory/wiki (browser)': 'web/library/wiki.ts',
  'perch/memory/dreaming (Node)': 'bridge/library/dreaming.ts',
  'perch/memory/dreaming (browser)': 'web/library/dreaming.ts',
  'perch/ui': 'web/library/ui/index.ts',
};

/** Names that programs may use: each entry's exports, with the members of its classes, interfaces and object types. */
type PublishedNames = Record<string, Record<string, string[]>>;

/** Reads the published names from the sources of the repository at `root`. */
export function readPublishedNames(root: string): PublishedNames {
  const files = Object.values(ENTRIES).map((file) => join(root, file));
  const program = ts.createProgram(files, {
    ...{ target: ts.ScriptTarget.ES2024, module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext },
    ...{ strict: true, noEmit: true, allowImportingTsExtensions: true, skipLibCheck: true, types: ['node'] },
  });
  const checker = program.getTypeChecker();
  const isOurs = (node: ts.Node): boolean => !node.getSourceFile().fileName.includes('/node_modules/');
  /** Own and inherited members declared in this repository, without private ones. */
  const toMembers = (type: ts.Type): string[] =>
    type.getProperties().flatMap((member) => {
      const [declaration] = member.declarations ?? [];
      if (!declaration || !isOurs(declaration) || /^(?:__|#)/.test(member.name)) return [];
      const isPrivate = ts.getCombinedModifierFlags(declaration as ts.Declaration) & ts.ModifierFlags.Private;
      return isPrivate ? [] : [member.name];
    });
  const readEntry = (file: string): Record<string, string[]> => {
    const source = program.getSourceFile(join(root, file));
    const module = source && checker.getSymbolAtLocation(source);
    if (!module) throw new Error(`${file} exports nothing`);
    const names = checker.getExportsOfModule(module).map((exported): [string, string[]] => {
      const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
      const isType = symbol.flags & (ts.SymbolFlags.Class | ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias);
      const isClass = symbol.flags & ts.SymbolFlags.Class;
      const members = isType ? toMembers(checker.getDeclaredTypeOfSymbol(symbol)) : [];
      const statics =
        isClass && symbol.valueDeclaration ? toMembers(checker.getTypeOfSymbolAtLocation(symbol, symbol.valueDeclaration)) : [];
      return [exported.name, [...members, ...statics.filter((name) => name !== 'prototype').map((name) => `static ${name}`)].sort()];
    });
    return Object.fromEntries(names.sort(([a], [b]) => (a < b ? -1 : 1)));
  };
  return Object.fromEntries(Object.entries(ENTRIES).map(([name, file]) => [name, readEntry(file)]));
}
