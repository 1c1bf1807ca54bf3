import { fromBase64 } from '#shared/base64.ts';
import type { Shape } from '#shared/canvas/shape-fields.ts';

/** Decoded pictures by their data URLs. */
export type DecodedImages = ReadonlyMap<string, ImageBitmap>;

/** Converts a base64 data URL to a blob of its type. */
export function toBlob(dataUrl: string): Blob {
  const [head = '', body = ''] = dataUrl.split(',', 2);
  return new Blob([fromBase64(body)], { type: /^data:([^;]+)/.exec(head)?.[1] ?? '' });
}

/** Decodes a picture, with its EXIF orientation applied. Throws an Error if it is not a picture. */
export async function decodeImage(blob: Blob): Promise<ImageBitmap> {
  try {
    return await createImageBitmap(blob, { imageOrientation: 'from-image' });
  } catch {
    throw new Error('The browser can’t read this image');
  }
}

/** Decodes each picture that the shapes use, once. */
export async function decodeImages(shapes: readonly Shape[]): Promise<DecodedImages> {
  const sources = new Set(shapes.flatMap((shape) => (shape.kind === 'image' ? [shape.src] : [])));
  return new Map(await Promise.all([...sources].map(async (src) => [src, await decodeImage(toBlob(src))] as const)));
}
