import type { StaticCanvas } from 'fabric/es';
import type { Page } from '#shared/canvas/shape-fields.ts';
import type { Box } from '#shared/canvas/geometry.ts';
import type { StudioViewport } from './studio-view-port.ts';

/** Size in CSS pixels of the squares that represent transparency. */
const CHECKER_PX = 8;

/** Paints the sheet under a drawing. Returns the veil over the area around it, which is not exported. */
export function paintSheet(fabric: StaticCanvas, view: StudioViewport, page: () => Page): HTMLElement {
  let checkerPattern: CanvasPattern | null = null;
  const getSheetBox = (): Box => {
    const { x, y, width, height } = page();
    const at = view.toElementPoint({ x, y });
    return { ...at, width: width * view.zoom, height: height * view.zoom };
  };
  fabric.on('before:render', ({ ctx }) => {
    const { x, y, width, height } = getSheetBox();
    const { background } = page();
    ctx.save();
    // A colour with four or eight digits may be transparent.
    if (background === null || background.length % 4 === 1) {
      checkerPattern ??= ctx.createPattern(createCheckerPattern(), 'repeat');
      if (checkerPattern) ctx.fillStyle = checkerPattern;
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
    const { x, y, width, height } = getSheetBox();
    Object.assign(veil.style, { width: `${width}px`, height: `${height}px`, transform: `translate(${x}px, ${y}px)` });
  });
  return veil;
}

function createCheckerPattern(): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = CHECKER_PX * 2;
  const context = canvas.getContext('2d');
  if (context) {
    context.fillStyle = '#ffffff';
    context.fillRect(0, 0, CHECKER_PX * 2, CHECKER_PX * 2);
    context.fillStyle = '#e4e4ea';
    context.fillRect(0, 0, CHECKER_PX, CHECKER_PX);
    context.fillRect(CHECKER_PX, CHECKER_PX, CHECKER_PX, CHECKER_PX);
  }
  return canvas;
}
