import { toBase64 } from '#shared/base64.ts';
import { isImageDataUrl, LIMITS } from '#shared/canvas/fields.ts';

/** An image as the data URL that a drawing keeps. Throws an Error that says what is wrong with its content type or its size. */
export function toImageDataUrl(type: string, bytes: Uint8Array): string {
  const url = `data:${type};base64,${toBase64(bytes)}`;
  if (url.length > LIMITS.imageLength) throw new Error(`The image is too large (${bytes.length} bytes)`);
  if (!isImageDataUrl(url))
    throw new Error(
      `The image has ${type === '' ? 'no content type' : `the content type ${type.slice(0, 100)}`}. Use one such as image/png`,
    );
  return url;
}
