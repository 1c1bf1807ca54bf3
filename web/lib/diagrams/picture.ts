import DOMPurify from 'dompurify';
import { m } from '#lib/i18n/later.ts';

/** An SVG document that is not to be trusted. Sizes in CSS pixels. */
export interface Picture {
  svg: string;
  width: number;
  height: number;
}

/** Pixels for each of CSS, as far as canvases go. */
const SCALE = 2;
const MOST_PIXELS = 8_192;

/** An address for an `<img>`: as a picture, nothing of it runs or loads (SVG 2, section 2.6, "secure static mode"). */
export const addressOf = ({ svg }: Picture): string => `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;

/** A file that stays a picture also where it is opened as a document. */
export function svgFile({ svg }: Picture): Blob {
  const root = DOMPurify.sanitize(svg, {
    USE_PROFILES: { svg: true, svgFilters: true },
    PARSER_MEDIA_TYPE: 'application/xhtml+xml',
    NAMESPACE: 'http://www.w3.org/2000/svg',
    RETURN_DOM_FRAGMENT: true,
  }).querySelector('svg');
  if (!root) throw new Error(m.reply_diagram_no_picture());
  return new Blob([new XMLSerializer().serializeToString(root)], { type: 'image/svg+xml' });
}

export async function pngFile(picture: Picture): Promise<Blob> {
  const image = new Image(picture.width, picture.height);
  image.src = addressOf(picture);
  await image.decode();
  const scale = Math.min(SCALE, MOST_PIXELS / Math.max(picture.width, picture.height));
  const canvas = document.createElement('canvas');
  canvas.width = Math.ceil(picture.width * scale);
  canvas.height = Math.ceil(picture.height * scale);
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  const { promise, resolve, reject } = Promise.withResolvers<Blob>();
  canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error(m.reply_diagram_png_too_large()))), 'image/png');
  return promise;
}
