import { drawingToSvg } from '#shared/canvas/drawing-to-svg.ts';
import { getBoundingBox, getCorners, getPaintedBounds } from '#shared/canvas/geometry.ts';
import type { Shape } from '#shared/canvas/shape-fields.ts';
import { measureText } from '../../paint/measure-text.ts';

/** Media type of dragged shapes: the text of the clipboard. */
export const LIBRARY_DRAG_TYPE = 'application/x-perch-shapes';

/** Space around the shapes of a preview, in CSS pixels. */
const PADDING = 4;

/** Creates a preview of shapes, as the URL of an SVG image. */
export function createItemPicture(shapes: readonly Shape[]): string {
  const bounds = getBoundingBox(shapes.flatMap((shape) => getCorners(getPaintedBounds(shape, measureText))));
  const page = {
    kind: 'page',
    x: bounds.x - PADDING,
    y: bounds.y - PADDING,
    width: Math.max(1, bounds.width) + 2 * PADDING,
    height: Math.max(1, bounds.height) + 2 * PADDING,
    background: null,
  } as const;
  return `data:image/svg+xml,${encodeURIComponent(drawingToSvg({ page, shapes }, { measure: measureText }))}`;
}
