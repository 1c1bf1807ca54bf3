import type { Page, Shape } from './shape-fields.ts';
import { getPaintedBounds, isOverlapping, getPageBox, isWithin } from './geometry.ts';
import type { MeasureText } from './marks.ts';

/** The part of a drawing that is painted: `Drawing` implements it. */
export interface DrawingContent {
  readonly page: Page;
  readonly shapes: readonly Shape[];
}

/** The visible shapes: neither hidden nor completely outside the page. */
export function getVisibleShapes({ page, shapes }: DrawingContent, measure?: MeasureText): Shape[] {
  const pageBox = getPageBox(page);
  return shapes.filter((shape) => !shape.hidden && touchesPage(getPaintedBounds(shape, measure), pageBox));
}

/** A line without width touches too. */
function touchesPage(box: ReturnType<typeof getPaintedBounds>, pageBox: ReturnType<typeof getPageBox>): boolean {
  return isOverlapping({ ...box, width: Math.max(box.width, 0.001), height: Math.max(box.height, 0.001) }, pageBox);
}

/**
 * Number of the lowest shapes that must become pixels so that a vector file does not reveal hidden content: all up to the last redaction or
 * blur, and up to the last picture that the page cuts off.
 */
export function countRasterShapes(page: Page, visibleShapes: readonly Shape[]): number {
  const pageBox = getPageBox(page);
  return (
    visibleShapes.findLastIndex(
      (shape) =>
        shape.kind === 'redaction' || shape.kind === 'blur' || (shape.kind === 'image' && !isWithin(getPaintedBounds(shape), pageBox)),
    ) + 1
  );
}

/** Removes shapes that a shape above hides completely or partly. */
export function getUncoveredShapes(page: Page, visibleShapes: readonly Shape[]): Shape[] {
  const pageBox = getPageBox(page);
  return visibleShapes.filter((shape, at) => {
    if (shape.kind === 'image' && !isWithin(getPaintedBounds(shape), pageBox)) return false;
    // Letters may be up to 1.5 times as wide as estimated.
    const box = getPaintedBounds(shape, (text, size) => [...text].length * size * 1.5);
    return !visibleShapes.slice(at + 1).some((above) => (above.kind === 'redaction' || above.kind === 'blur') && isOverlapping(box, above));
  });
}
