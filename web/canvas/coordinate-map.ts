import type { Drawing } from '#shared/canvas/drawing.ts';
import type { Box } from '#shared/canvas/geometry.ts';

export interface CanvasPoint {
  readonly x: number;
  readonly y: number;
}

/** Maps between the coordinates of a drawing and an element. */
export interface CoordinateMap {
  /** Converts a position on the page, in CSS pixels of the window, to one in the drawing. */
  toDrawing(clientX: number, clientY: number): CanvasPoint;
  /** Converts a position in the drawing to CSS lengths from the element's left upper corner. */
  toElement(at: CanvasPoint): { readonly left: string; readonly top: string };
  /** Scrolls as little as needed to show a box of the drawing, if it may be out of view. */
  scrollIntoView?(around: Box): void;
}

/** Creates the map of an element that shows the whole sheet at any size. */
export function createSheetMap(target: HTMLElement, drawing: Drawing): CoordinateMap {
  return {
    toDrawing(clientX, clientY) {
      const { left, top, width, height } = target.getBoundingClientRect();
      const { page } = drawing;
      return { x: page.x + ((clientX - left) * page.width) / width, y: page.y + ((clientY - top) * page.height) / height };
    },
    toElement(at) {
      const { x, y, width, height } = drawing.page;
      return { left: `${((at.x - x) / width) * 100}%`, top: `${((at.y - y) / height) * 100}%` };
    },
  };
}
