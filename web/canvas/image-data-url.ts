import { toBase64 } from '#shared/base64.ts';
import { isImageDataUrl, LIMITS } from '#shared/canvas/shape-fields.ts';

/** Converts an image to the data URL that a drawing stores. Throws an Error about an unsupported content type or size. */
export function toImageDataUrl(type: string, bytes: Uint8Array): string {
  const url = `data:${type};base64,${toBase64(bytes)}`;
  if (url.length > LIMITS.imageLength) throw new Error(`The image is too large (${bytes.length} bytes)`);
  if (!isImageDataUrl(url))
    throw new Error(
      `The image has ${type === '' ? 'no content type' : `the content type ${type.slice(0, 100)}`}. Use one such as image/png`,
    );
  return url;
}
