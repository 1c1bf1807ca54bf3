import type { DrawingContent } from '#shared/canvas/visible-shapes.ts';
import type { Shape } from '#shared/canvas/shape-fields.ts';
import { type Box, isOverlapping, getRotation, getPageBox } from '#shared/canvas/geometry.ts';
import { getBaseline, FONT_FAMILY, isRightToLeft, LINE_HEIGHT, type Mark } from '#shared/canvas/marks.ts';
import type { DecodedImages } from './decode-images.ts';
import { type ShapeLook, getShapeLook } from './shape-look.ts';

/** 2D context of a canvas, in a page or a worker. */
type PaintContext = Omit<OffscreenCanvasRenderingContext2D, 'canvas'> & {
  readonly canvas: CanvasImageSource & { readonly width: number; readonly height: number };
};

/** Paints the page and its shapes, with the top left corner of the page at the origin of the context. */
export function paintPicture(context: PaintContext, picture: DrawingContent, images: DecodedImages): void {
  const { page } = picture;
  context.save();
  context.translate(-page.x, -page.y);
  if (page.background !== null) {
    context.fillStyle = page.background;
    context.fillRect(page.x, page.y, page.width, page.height);
  }
  for (const shape of getVisibleShapes(picture)) paintShape(context, shape, images);
  context.restore();
}

/** Returns the shapes that are neither hidden nor completely outside the page, including lines with zero width or height. */
export function getVisibleShapes({ page, shapes }: DrawingContent): Shape[] {
  const pageBox = getPageBox(page);
  return shapes.filter((shape) => {
    if (shape.hidden) return false;
    const { bounds } = getShapeLook(shape);
    return isOverlapping({ ...bounds, width: Math.max(bounds.width, 0.001), height: Math.max(bounds.height, 0.001) }, pageBox);
  });
}

/** Paints a shape at its position, with its rotation. */
export function paintShape(context: PaintContext, shape: Shape, images: DecodedImages): void {
  const rotation = getRotation(shape);
  context.save();
  if (rotation === 0) paintUpright(context, shape, images);
  else {
    const { x, y, width, height } = getShapeLook(shape).frame;
    context.translate(x + width / 2, y + height / 2);
    context.rotate((rotation * Math.PI) / 180);
    context.translate(-(x + width / 2), -(y + height / 2));
    paintUpright(context, shape, images);
  }
  context.restore();
}

/** Paints a shape with the centre of its frame at the origin and without its rotation, which the caller applies to the context. */
export function paintCentered(context: PaintContext, shape: Shape, images: DecodedImages): void {
  const { x, y, width, height } = getShapeLook(shape).frame;
  context.save();
  context.translate(-(x + width / 2), -(y + height / 2));
  paintUpright(context, shape, images);
  context.restore();
}

/** Paints a shape at its position, without its rotation. Changes the state of the context. */
function paintUpright(context: PaintContext, shape: Shape, images: DecodedImages): void {
  const look = getShapeLook(shape);
  const { marks } = look;
  const opacity = 'opacity' in shape ? shape.opacity : 1;
  const crisp = 'antiAlias' in shape && !shape.antiAlias;
  const paint = (target: PaintContext): void => marks.forEach((mark) => paintMark(target, mark, look, images));
  if (crisp || (opacity < 1 && marks.length > 1)) {
    const upright = getRotation(shape) === 0 ? look : getShapeLook({ ...shape, rotation: 0 } as Shape);
    paintLayer(context, upright.bounds, { paint, opacity, crisp });
  } else {
    if (opacity < 1) context.globalAlpha *= opacity;
    paint(context);
  }
}

function paintMark(context: PaintContext, mark: Mark, look: ShapeLook, images: DecodedImages): void {
  switch (mark.type) {
    case 'path':
      return paintPath(context, mark, look);
    case 'text':
      return paintText(context, mark);
    case 'image': {
      const image = images.get(mark.src);
      if (mark.mirrored) context.transform(-1, 0, 0, 1, 2 * mark.x + mark.width, 0);
      if (image) context.drawImage(image, mark.x, mark.y, mark.width, mark.height);
      return;
    }
    case 'solid':
      return paintSolid(context, mark);
    case 'blur':
      return paintBlur(context, mark);
  }
}

function paintPath(context: PaintContext, mark: Extract<Mark, { type: 'path' }>, look: ShapeLook): void {
  const path = look.path(mark);
  if (mark.multiply) context.globalCompositeOperation = 'multiply';
  if (mark.fill) {
    context.fillStyle = mark.color;
    context.fill(path);
  }
  if (mark.strokeWidth > 0) {
    context.strokeStyle = mark.color;
    context.lineWidth = mark.strokeWidth;
    context.lineCap = context.lineJoin = 'round';
    context.stroke(path);
  }
}

function paintText(context: PaintContext, mark: Extract<Mark, { type: 'text' }>): void {
  context.font = `${mark.size}px ${FONT_FAMILY}`;
  context.fillStyle = mark.color;
  context.textBaseline = 'alphabetic';
  context.textAlign = mark.centered ? 'center' : 'left';
  mark.lines.forEach((line, index) => {
    context.direction = isRightToLeft(line) ? 'rtl' : 'ltr';
    context.fillText(line, mark.x, getBaseline(mark.y + index * mark.size * LINE_HEIGHT, mark.size));
  });
}

/** Returns the smallest box of whole device pixels that contains a box. */
function toPixelBox(context: PaintContext, { x, y, width, height }: Box): Box {
  const transform = context.getTransform();
  const corners = [
    [x, y],
    [x + width, y],
    [x, y + height],
    [x + width, y + height],
  ].map(([cx, cy]) => transform.transformPoint({ x: cx, y: cy }));
  // The tolerance keeps rounding errors of floats from adding a pixel.
  const left = Math.floor(Math.min(...corners.map((corner) => corner.x)) + 1e-6);
  const top = Math.floor(Math.min(...corners.map((corner) => corner.y)) + 1e-6);
  const right = Math.ceil(Math.max(...corners.map((corner) => corner.x)) - 1e-6);
  const bottom = Math.ceil(Math.max(...corners.map((corner) => corner.y)) - 1e-6);
  return { x: left, y: top, width: right - left, height: bottom - top };
}

/** Fills every pixel that the mark touches, so that nothing shines through at its edges. */
function paintSolid(context: PaintContext, mark: Extract<Mark, { type: 'solid' }>): void {
  const { x, y, width, height } = toPixelBox(context, mark);
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.globalAlpha = 1;
  context.globalCompositeOperation = 'source-over';
  context.fillStyle = mark.color;
  context.fillRect(x, y, width, height);
}

/** Creates a temporary canvas of at least one pixel. */
function createScratchContext(width: number, height: number): OffscreenCanvasRenderingContext2D {
  const context = new OffscreenCanvas(Math.max(1, width), Math.max(1, height)).getContext('2d');
  if (!context) throw new Error('This browser doesn’t support OffscreenCanvas');
  return context;
}

/** Blurs the area below by scaling it down and up, which works the same in all browsers. */
function paintBlur(context: PaintContext, mark: Extract<Mark, { type: 'blur' }>): void {
  const { x, y, width, height } = toPixelBox(context, mark);
  if (width <= 0 || height <= 0) return;
  const { a, b } = context.getTransform();
  const spot = Math.max(2, mark.strength * Math.hypot(a, b));
  const [columns, rows] = [Math.ceil(width / spot), Math.ceil(height / spot)];
  const small = createScratchContext(columns, rows);
  small.imageSmoothingQuality = 'high';
  small.drawImage(context.canvas, x, y, width, height, 0, 0, columns, rows);
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.globalAlpha = 1;
  context.imageSmoothingEnabled = true;
  context.drawImage(small.canvas, 0, 0, columns, rows, x, y, width, height);
}

/** Paints to a temporary layer, so that overlapping translucent marks do not add up; if `crisp`, also removes anti-aliasing. */
function paintLayer(
  context: PaintContext,
  bounds: Box,
  { paint, opacity, crisp }: { paint: (target: PaintContext) => void; opacity: number; crisp: boolean },
): void {
  const box = toPixelBox(context, bounds);
  const { width: canvasWidth, height: canvasHeight } = context.canvas;
  const [left, top] = [Math.max(0, box.x - 1), Math.max(0, box.y - 1)];
  const [width, height] = [Math.min(canvasWidth, box.x + box.width + 1) - left, Math.min(canvasHeight, box.y + box.height + 1) - top];
  if (width <= 0 || height <= 0) return;
  const layer = createScratchContext(width, height);
  const { a, b, c, d, e, f } = context.getTransform();
  layer.setTransform(a, b, c, d, e - left, f - top);
  paint(layer);
  if (crisp) {
    const pixels = layer.getImageData(0, 0, width, height);
    for (let at = 3; at < pixels.data.length; at += 4) pixels.data[at] = (pixels.data[at] ?? 0) >= 128 ? 255 : 0;
    layer.putImageData(pixels, 0, 0);
  }
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.globalAlpha *= opacity;
  context.drawImage(layer.canvas, left, top);
}
