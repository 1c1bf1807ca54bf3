import { type Node, parseTree } from 'jsonc-parser';

/**
 * Finds a setting in a JSON text by its dotted path, or the innermost part of the path that exists. Line and column from 1; null if nothing
 * is found.
 */
export function findPosition(text: string, key: string): { line: number; column: number } | null {
  let node = parseTree(text, [], { allowTrailingComma: true });
  let found: Node | undefined;
  for (let rest: string | undefined = key; rest !== undefined && node;) {
    const next: PathStep | undefined = findStep(node, rest);
    if (!next) break;
    ({ at: found, value: node, rest } = next);
  }
  if (!found) return null;
  const before = text.slice(0, found.offset).split(/\r\n|\r|\n/);
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

interface PathStep {
  at: Node;
  value: Node | undefined;
  rest: string | undefined;
}

/** Finds the property that continues the path. Names may contain dots themselves. */
function findStep(node: Node, path: string): PathStep | undefined {
  const parts = (node.children ?? []).map((child, index): { name: string; at: Node; value: Node | undefined } => {
    if (node.type === 'array') return { name: String(index), at: child, value: child };
    const [name, value] = child.children ?? [];
    return { name: String(name?.value), at: child, value };
  });
  const fitting = parts.filter(({ name }) => path === name || path.startsWith(`${name}.`));
  const [longest] = fitting.sort((a, b) => b.name.length - a.name.length);
  return longest && { at: longest.at, value: longest.value, rest: path === longest.name ? undefined : path.slice(longest.name.length + 1) };
}
