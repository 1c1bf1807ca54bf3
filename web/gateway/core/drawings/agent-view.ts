import { shownOf, uncovered } from '#shared/canvas/cover.ts';
import type { Drawing } from '#shared/canvas/drawing.ts';
import type { Shape } from '#shared/canvas/fields.ts';
import { boundsOf } from '#shared/canvas/geometry.ts';

/** Id prefix of shapes drawn by agents, which they may change and remove without asking. */
export const AGENT_SHAPE = 'agent_';

/** Whether a shape hides what lies below it. */
export const covers = ({ kind }: Shape): boolean => kind === 'redaction' || kind === 'blur';

/** The shapes that an agent may know: visible, on the canvas, and not touched by a redaction or blur above. */
export function known({ page, shapes }: Pick<Drawing, 'page' | 'shapes'>): ReadonlySet<Shape> {
  return new Set(uncovered(page, shownOf({ page, shapes })));
}

/**
 * A drawing as text for a model: no more than its picture shows. Covered shapes, and outlines of many points, are reduced to their position
 * or mere existence.
 */
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
