import { toBase64 } from '#shared/base64.ts';
import { type DrawingContent, countRasterShapes } from '#shared/canvas/visible-shapes.ts';
import { drawingToSvg } from '#shared/canvas/drawing-to-svg.ts';
import { decodeImages } from './decode-images.ts';
import { measureText } from './measure-text.ts';
import { paintPicture, getVisibleShapes } from './paint-picture.ts';

export interface ImageOptions {
  /** Pixels per CSS pixel: 1, or `devicePixelRatio` for the resolution of the screen. */
  readonly scale?: number;
  readonly type?: 'image/png' | 'image/jpeg' | 'image/webp';
  /** Quality of JPEG and WebP, from 0 to 1. */
  readonly quality?: number;
}

/** Limits of browsers: pixels per side, and in total. */
const MAX_SIDE_PIXELS = 16_384;
const MAX_AREA_PIXELS = 268_435_456;

/**
 * Exports a drawing as an image of its size times `scale`, in a page or a worker. Redactions become part of the pixels. Throws a RangeError
 * if the size exceeds the limits of browsers, and an Error if a picture in the drawing cannot be read.
 */
export async function exportImage(
  picture: DrawingContent,
  { scale = 1, type = 'image/png', quality }: ImageOptions = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const [width, height] = [Math.round(picture.page.width * scale), Math.round(picture.page.height * scale)];
  if (!(scale > 0) || width < 1 || height < 1 || width > MAX_SIDE_PIXELS || height > MAX_SIDE_PIXELS || width * height > MAX_AREA_PIXELS)
    throw new RangeError(`Can’t export an image of ${width} × ${height} pixels`);
  const images = await decodeImages(getVisibleShapes(picture));
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext('2d');
  if (!context) throw new Error('This browser doesn’t support OffscreenCanvas');
  if (type === 'image/jpeg') {
    context.fillStyle = '#ffffff';
    context.fillRect(0, 0, width, height);
  }
  context.scale(scale, scale);
  paintPicture(context, picture, images);
  for (const image of images.values()) image.close();
  const blob = await canvas.convertToBlob({ type, quality });
  if (blob.type !== type) throw new Error(`This browser can’t create ${type} images`);
  return new Uint8Array(await blob.arrayBuffer());
}

/** Exports a drawing as an SVG. Shapes that must not stay readable (see `countRasterShapes`) are embedded as a PNG at `scale`. */
export async function exportSvg(picture: DrawingContent, { scale = 1 }: Pick<ImageOptions, 'scale'> = {}): Promise<string> {
  const visible = getVisibleShapes(picture);
  const below = countRasterShapes(picture.page, visible);
  if (below === 0) return drawingToSvg(picture, { measure: measureText });
  const png = await exportImage({ page: picture.page, shapes: visible.slice(0, below) }, { scale });
  return drawingToSvg(picture, { measure: measureText, pixels: `data:image/png;base64,${toBase64(png)}` });
}
