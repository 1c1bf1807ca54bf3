import { lineOf } from './drawing-text.ts';
import { type Element, element, elements } from './xml-tree.ts';

/** Maximum number of indented levels. */
const MAX_LEVELS = 8;

/** A diagram (SmartArt: `dgm:dataModel`; ECMA-376 part 1, section 21.4) as a nested list of its texts. Empty if it has none. */
export function diagramText(model: Element | undefined): string {
  const points = elements(element(model, 'dgm:ptLst'), 'dgm:pt');
  const texts = new Map<string, string>();
  for (const point of points) {
    // Other points are connections between the nodes, and their presentation.
    if (!/^(node|asst|doc)$/.test(point.attributes['type'] ?? 'node')) continue;
    texts.set(point.attributes['modelId'] ?? '', lineOf(element(point, 'dgm:t')).replace(/\s+/g, ' ').trim());
  }
  const parts = new Map<string, { id: string; order: number }[]>();
  const within = new Set<string>();
  for (const { attributes } of elements(element(model, 'dgm:cxnLst'), 'dgm:cxn')) {
    const { type = 'parOf', srcId = '', destId = '', srcOrd } = attributes;
    if (type !== 'parOf' || !texts.has(srcId) || !texts.has(destId)) continue;
    within.add(destId);
    const known = parts.get(srcId) ?? [];
    known.push({ id: destId, order: Number(srcOrd) || 0 });
    parts.set(srcId, known);
  }
  const lines: string[] = [];
  const waiting = [...texts.keys()]
    .filter((id) => !within.has(id))
    .map((id) => ({ id, level: 0 }))
    .toReversed();
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const text = texts.get(next.id);
    // Guards against cyclic references.
    if (text === undefined) continue;
    texts.delete(next.id);
    if (text !== '') lines.push(`${'  '.repeat(Math.min(next.level, MAX_LEVELS))}- ${text}`);
    const level = text === '' ? next.level : next.level + 1;
    const inner = (parts.get(next.id) ?? []).sort((a, b) => a.order - b.order).map(({ id }) => ({ id, level }));
    for (const part of inner.toReversed()) waiting.push(part);
  }
  return lines.length > 0 ? `Diagram:\n${lines.join('\n')}` : '';
}
