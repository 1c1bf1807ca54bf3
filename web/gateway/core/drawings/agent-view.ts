import { shownOf, uncovered } from '#shared/canvas/cover.ts';
import type { Drawing } from '#shared/canvas/drawing.ts';
import type { Shape } from '#shared/canvas/fields.ts';
import { boundsOf } from '#shared/canvas/geometry.ts';

/** Shapes that agents have drawn: they may change and remove these without asking. */
export const AGENT_SHAPE = 'agent_';

/** Whether it hides what lies below. */
export const covers = ({ kind }: Shape): boolean => kind === 'redaction' || kind === 'blur';

/** The shapes that an agent may know: seen, within the sheet, and not even touched by a redaction or blur above. */
export function known({ page, shapes }: Pick<Drawing, 'page' | 'shapes'>): ReadonlySet<Shape> {
  return new Set(uncovered(page, shownOf({ page, shapes })));
}

/** A drawing as a model reads it: no more than its picture shows. Of a shape that is covered, or outlined by many points, only where it lies, or that it is there. */
export function agentView(drawing: Pick<Drawing, 'page' | 'shapes'>): Record<string, unknown>[] {
  const open = known(drawing);
  return shownOf(drawing).map((shape) => {
    const { id, kind } = shape;
    if (kind === 'image') return { id, kind, box: boxOf(shape) };
    if (!open.has(shape)) return { id, kind, covered: true };
    if (kind === 'pen' || kind === 'path') return { id, kind, color: shape.color, box: boxOf(shape) };
    const { order: _order, hidden: _hidden, ...fields } = shape;
    return fields;
  });
}

function boxOf(shape: Shape): Record<string, number> {
  const { x, y, width, height } = boundsOf(shape);
  return Object.fromEntries(Object.entries({ x, y, width, height }).map(([name, value]) => [name, Math.round(value)]));
}
