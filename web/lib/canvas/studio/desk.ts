import type { StaticCanvas } from 'fabric/es';
import type { Page } from '#shared/canvas/fields.ts';
import type { Box } from '#shared/canvas/geometry.ts';
import type { View } from './view.ts';

/** Size in CSS pixels of the squares that represent transparency. */
const SQUARE = 8;

/** Paints the sheet under a drawing. Returns the veil over the area around it, which is not exported. */
export function paintDesk(fabric: StaticCanvas, view: View, page: () => Page): HTMLElement {
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
  const veil = document.createElement('div');
  veil.className = 'perch-veil';
  fabric.on('after:render', () => {
    const { x, y, width, height } = sheet();
    Object.assign(veil.style, { width: `${width}px`, height: `${height}px`, transform: `translate(${x}px, ${y}px)` });
  });
  return veil;
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
