import { toBase64 } from '#shared/base64.ts';
import { type Picture, pixelsBelow } from '#shared/canvas/cover.ts';
import { drawingToSvg } from '#shared/canvas/svg.ts';
import { decodeImages } from './images.ts';
import { measureText } from './measure.ts';
import { paintPicture, seenOf } from './paint.ts';

export interface ImageOptions {
  /** Pixels of the file for each CSS pixel: 1, or `devicePixelRatio` for what the screen shows. */
  readonly scale?: number;
  readonly type?: 'image/png' | 'image/jpeg' | 'image/webp';
  /** Of JPEG and WebP, 0 to 1. */
  readonly quality?: number;
}

/** Limits of browsers: pixels a side, and in all. */
const SIDE = 16_384;
const AREA = 268_435_456;

/**
 * Exports the sheet as a picture of width × height × scale pixels, in a page or a worker. Redactions are part of its pixels. Throws a
 * RangeError if the size exceeds what browsers support, and an Error if a picture on the sheet cannot be read.
 */
export async function exportImage(
  picture: Picture,
  { scale = 1, type = 'image/png', quality }: ImageOptions = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const [width, height] = [Math.round(picture.page.width * scale), Math.round(picture.page.height * scale)];
  if (!(scale > 0) || width < 1 || height < 1 || width > SIDE || height > SIDE || width * height > AREA)
    throw new RangeError(`Can’t export an image of ${width} × ${height} pixels`);
  const images = await decodeImages(seenOf(picture));
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

/** The sheet as an SVG. What must not be in it but as pixels (`pixelsBelow`) is: `scale` is theirs. */
export async function exportSvg(picture: Picture, { scale = 1 }: Pick<ImageOptions, 'scale'> = {}): Promise<string> {
  const shown = seenOf(picture);
  const below = pixelsBelow(picture.page, shown);
  if (below === 0) return drawingToSvg(picture, { measure: measureText });
  const png = await exportImage({ page: picture.page, shapes: shown.slice(0, below) }, { scale });
  return drawingToSvg(picture, { measure: measureText, pixels: `data:image/png;base64,${toBase64(png)}` });
}
