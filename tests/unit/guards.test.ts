import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { applyPatch } from '../guards/guard.ts';
import { GUARDS } from '../guards/guard-list.ts';

const root = join(import.meta.dirname, '../..');

/** Names that a source refers to, and those that it declares. */
function findNames(source: string): { used: Set<string>; declared: Set<string> } {
  const names = { used: new Set<string>(), declared: new Set<string>() };
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) {
      const { parent } = node;
      const isMember =
        (ts.isPropertyAccessExpression(parent) && parent.name === node) || (ts.isPropertyAssignment(parent) && parent.name === node);
      const isDeclared = 'name' in parent && parent.name === node && !ts.isPropertyAccessExpression(parent);
      if (!isMember) (isDeclared ? names.declared : names.used).add(node.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('guard.ts', source, ts.ScriptTarget.Latest, true));
  return names;
}

describe('guards that `npm run test:guards` disables', () => {
  for (const guard of GUARDS)
    it(`${guard.name}: the patch applies once, and its test is there`, () => {
      expect(applyPatch(guard, root)).toContain(guard.replace);
      expect(existsSync(join(root, guard.test))).toBe(true);
    });

  it('are replaced by code that refers to nothing that is missing, which would fail for another reason', () => {
    const inBrowser = new Set(['document']);
    for (const guard of GUARDS.filter(({ file }) => file.endsWith('.ts'))) {
      const before = findNames(readFileSync(join(root, guard.file), 'utf8'));
      const after = findNames(applyPatch(guard, root));
      const missing = [...after.used].filter(
        (name) => !before.used.has(name) && !after.declared.has(name) && !(name in globalThis) && !inBrowser.has(name),
      );
      expect(missing, guard.name).toEqual([]);
    }
  });

  it('have names of their own', () => {
    expect(new Set(GUARDS.map(({ name }) => name)).size).toBe(GUARDS.length);
  });
});
