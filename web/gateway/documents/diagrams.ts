import { formatLine } from './drawing-text.ts';
import { type XmlElement, findElement, getChildren } from './xml-tree.ts';

/** Maximum number of indented levels. */
const MAX_LEVELS = 8;

/** A diagram (SmartArt: `dgm:dataModel`; ECMA-376 part 1, section 21.4) as a nested list of its texts. Empty if it has none. */
export function formatDiagram(model: XmlElement | undefined): string {
  const points = getChildren(findElement(model, 'dgm:ptLst'), 'dgm:pt');
  const texts = new Map<string, string>();
  for (const point of points) {
    // Other points are connections between the nodes, and their presentation.
    if (!/^(node|asst|doc)$/.test(point.attributes['type'] ?? 'node')) continue;
    texts.set(point.attributes['modelId'] ?? '', formatLine(findElement(point, 'dgm:t')).replace(/\s+/g, ' ').trim());
  }
  const children = new Map<string, { id: string; order: number }[]>();
  const childIds = new Set<string>();
  for (const { attributes } of getChildren(findElement(model, 'dgm:cxnLst'), 'dgm:cxn')) {
    const { type = 'parOf', srcId = '', destId = '', srcOrd } = attributes;
    if (type !== 'parOf' || !texts.has(srcId) || !texts.has(destId)) continue;
    childIds.add(destId);
    const siblings = children.get(srcId) ?? [];
    siblings.push({ id: destId, order: Number(srcOrd) || 0 });
    children.set(srcId, siblings);
  }
  const lines: string[] = [];
  const pending = [...texts.keys()]
    .filter((id) => !childIds.has(id))
    .map((id) => ({ id, level: 0 }))
    .toReversed();
  for (let next = pending.pop(); next; next = pending.pop()) {
    const text = texts.get(next.id);
    // Guards against cyclic references.
    if (text === undefined) continue;
    texts.delete(next.id);
    if (text !== '') lines.push(`${'  '.repeat(Math.min(next.level, MAX_LEVELS))}- ${text}`);
    const level = text === '' ? next.level : next.level + 1;
    const inner = (children.get(next.id) ?? []).sort((a, b) => a.order - b.order).map(({ id }) => ({ id, level }));
    for (const part of inner.toReversed()) pending.push(part);
  }
  return lines.length > 0 ? `Diagram:\n${lines.join('\n')}` : '';
}
