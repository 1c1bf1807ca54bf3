import type { Page, Shape } from './fields.ts';
import { boundsOf, overlap, sheetOf, within } from './geometry.ts';
import type { Measure } from './marks.ts';

/** The part of a drawing that is painted: `Drawing` implements it. */
export interface Picture {
  readonly page: Page;
  readonly shapes: readonly Shape[];
}

/** The visible shapes: neither hidden nor completely outside the sheet. */
export function shownOf({ page, shapes }: Picture, measure?: Measure): Shape[] {
  const sheet = sheetOf(page);
  return shapes.filter((shape) => !shape.hidden && touches(boundsOf(shape, measure), sheet));
}

/** A line without width touches too. */
function touches(box: ReturnType<typeof boundsOf>, sheet: ReturnType<typeof sheetOf>): boolean {
  return overlap({ ...box, width: Math.max(box.width, 0.001), height: Math.max(box.height, 0.001) }, sheet);
}

/**
 * Number of the lowest shapes that must become pixels so that a vector file does not reveal hidden content: all up to the last redaction or
 * blur, and up to the last picture that the sheet cuts off.
 */
export function pixelsBelow(page: Page, shown: readonly Shape[]): number {
  const sheet = sheetOf(page);
  return (
    shown.findLastIndex(
      (shape) => shape.kind === 'redaction' || shape.kind === 'blur' || (shape.kind === 'image' && !within(boundsOf(shape), sheet)),
    ) + 1
  );
}

/** Without the shapes that something above hides, wholly or in part. */
export function uncovered(page: Page, shown: readonly Shape[]): Shape[] {
  const sheet = sheetOf(page);
  return shown.filter((shape, at) => {
    if (shape.kind === 'image' && !within(boundsOf(shape), sheet)) return false;
    // Letters may be half as wide again as they are guessed to be.
    const box = boundsOf(shape, (text, size) => [...text].length * size * 1.5);
    return !shown.slice(at + 1).some((above) => (above.kind === 'redaction' || above.kind === 'blur') && overlap(box, above));
  });
}
