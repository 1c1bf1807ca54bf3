import { FONT_FAMILY, type MeasureText } from '#shared/canvas/marks.ts';

let context: OffscreenCanvasRenderingContext2D | null | undefined;

/** Returns the width of a line of text in this browser, in a page or a worker. */
export const measureText: MeasureText = (text, size) => {
  context ??= new OffscreenCanvas(1, 1).getContext('2d');
  if (!context) throw new Error('This browser doesn’t support OffscreenCanvas');
  context.font = `${size}px ${FONT_FAMILY}`;
  return context.measureText(text).width;
};
