import type { StaticCanvas } from 'fabric/es';
import type { Page } from '#shared/canvas/fields.ts';
import type { Box } from '#shared/canvas/geometry.ts';
import type { View } from './view.ts';

/** Of the squares that stand for what is see-through, in CSS pixels. */
const SQUARE = 8;
/** How much of what lies beside the sheet is hidden. */
const VEIL = 0.8;

/** Paints what a drawing lies on: the sheet under it, and over what lies beside the sheet a veil of the desk's colour, for that is not exported. */
export function paintDesk(fabric: StaticCanvas, desk: HTMLElement, view: View, page: () => Page): void {
  let squares: CanvasPattern | null = null;
  const sheet = (): Box => {
    const { x, y, width, height } = page();
    const at = view.on({ x, y });
    return { ...at, width: width * view.zoom, height: height * view.zoom };
  };
  fabric.on('before:render', ({ ctx }) => {
    const { x, y, width, height } = sheet();
    const { background } = page();
    ctx.save();
    // With four or eight digits it may be see-through.
    if (background === null || background.length % 4 === 1) {
      squares ??= ctx.createPattern(squared(), 'repeat');
      if (squares) ctx.fillStyle = squares;
      ctx.fillRect(x, y, width, height);
    }
    if (background !== null) {
      ctx.fillStyle = background;
      ctx.fillRect(x, y, width, height);
    }
    ctx.restore();
  });
  fabric.on('after:render', ({ ctx }) => {
    const { x, y, width, height } = sheet();
    ctx.save();
    ctx.beginPath();
    ctx.rect(0, 0, view.size.width, view.size.height);
    ctx.rect(x, y, width, height);
    ctx.fillStyle = getComputedStyle(desk).backgroundColor;
    ctx.globalAlpha = VEIL;
    ctx.fill('evenodd');
    ctx.restore();
  });
}

function squared(): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = SQUARE * 2;
  const context = canvas.getContext('2d');
  if (context) {
    context.fillStyle = '#ffffff';
    context.fillRect(0, 0, SQUARE * 2, SQUARE * 2);
    context.fillStyle = '#e4e4ea';
    context.fillRect(0, 0, SQUARE, SQUARE);
    context.fillRect(SQUARE, SQUARE, SQUARE, SQUARE);
  }
  return canvas;
}
