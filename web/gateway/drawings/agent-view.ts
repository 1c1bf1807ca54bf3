import { getVisibleShapes, getUncoveredShapes } from '#shared/canvas/visible-shapes.ts';
import type { Drawing } from '#shared/canvas/drawing.ts';
import type { Shape } from '#shared/canvas/shape-fields.ts';
import { getPaintedBounds } from '#shared/canvas/geometry.ts';

/** Id prefix of shapes drawn by agents, which they may change and remove without asking. */
export const AGENT_SHAPE_PREFIX = 'agent_';

/** Whether a shape hides what lies below it. */
export const isCover = ({ kind }: Shape): boolean => kind === 'redaction' || kind === 'blur';

/** The shapes that an agent may know: visible, on the canvas, and not touched by a redaction or blur above. */
export function findVisibleShapes({ page, shapes }: Pick<Drawing, 'page' | 'shapes'>): ReadonlySet<Shape> {
  return new Set(getUncoveredShapes(page, getVisibleShapes({ page, shapes })));
}

/**
 * A drawing as text for a model: no more than its picture shows. Covered shapes, and outlines of many points, are reduced to their position
 * or mere existence.
 */
export function toAgentView(drawing: Pick<Drawing, 'page' | 'shapes'>): Record<string, unknown>[] {
  const open = findVisibleShapes(drawing);
  return getVisibleShapes(drawing).map((shape) => {
    const { id, kind } = shape;
    if (kind === 'image') return { id, kind, box: toBox(shape) };
    if (!open.has(shape)) return { id, kind, covered: true };
    if (kind === 'pen' || kind === 'path') return { id, kind, color: shape.color, box: toBox(shape) };
    const { order: _order, hidden: _hidden, ...fields } = shape;
    return fields;
  });
}

function toBox(shape: Shape): Record<string, number> {
  const { x, y, width, height } = getPaintedBounds(shape);
  return Object.fromEntries(Object.entries({ x, y, width, height }).map(([name, value]) => [name, Math.round(value)]));
}
