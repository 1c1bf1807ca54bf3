import DOMPurify from 'dompurify';
import { m } from '../../i18n/messages.ts';

/** An untrusted SVG document. Sizes are in CSS pixels. */
export interface SvgPicture {
  svg: string;
  width: number;
  height: number;
}

/** Pixels of a PNG per CSS pixel, up to the maximum size of a canvas. */
const SCALE = 2;
const MAX_PIXELS = 8_192;

/** URL for an `<img>`, in which an SVG neither runs scripts nor loads resources (SVG 2, section 2.6, "secure static mode"). */
export const toPictureUrl = ({ svg }: SvgPicture): string => `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;

/** Creates a file without scripts and external resources, which is safe to open as a document. */
export function toSvgFile({ svg }: SvgPicture): Blob {
  const root = DOMPurify.sanitize(svg, {
    USE_PROFILES: { svg: true, svgFilters: true },
    PARSER_MEDIA_TYPE: 'application/xhtml+xml',
    NAMESPACE: 'http://www.w3.org/2000/svg',
    RETURN_DOM_FRAGMENT: true,
  }).querySelector('svg');
  if (!root) throw new Error(m.reply_diagram_no_picture());
  removeOutsideReferences(root);
  return new Blob([new XMLSerializer().serializeToString(root)], { type: 'image/svg+xml' });
}

/** External references in styles: imports, `url(…)` except fragments and data URLs of images, also unclosed, and functions that take a URL as a string. */
const EXTERNAL_STYLE = /@import[^;]*;?|url\((?!\s*['"]?\s*(?:#|data:image\/))[^)]*\)?|(?:image-set|image|src)\(/gi;

/** Removes external resources that a document would load when it is opened; links stay. */
function removeOutsideReferences(root: SVGElement): void {
  for (const element of [root, ...root.querySelectorAll<SVGElement>('*')]) {
    if (element.localName === 'style') element.textContent = sanitizeStyle(element.textContent);
    for (const { name, value, localName } of [...element.attributes]) {
      const isAddress = localName === 'href' || localName === 'src';
      if (isAddress && element.localName !== 'a' && !/^(?:#|data:image\/)/i.test(value)) element.remove();
      else if (!isAddress && sanitizeStyle(value) !== value) element.setAttribute(name, sanitizeStyle(value));
    }
  }
}

function sanitizeStyle(style: string): string {
  const plain = unescapeCss(style);
  // Replaced by a space: removing it could join the text before and after to another address.
  const inner = plain.replace(EXTERNAL_STYLE, ' ');
  return inner === plain ? style : inner;
}

/** Resolves escapes, which could hide a URL, and removes remaining backslashes, which could form new ones. */
const unescapeCss = (style: string): string =>
  style
    .replace(/\\([0-9a-f]{1,6})(?:\r\n|\s)?/gi, (_escape, code: string) => String.fromCodePoint(Math.min(parseInt(code, 16), 0x10ffff)))
    .replaceAll('\\', '');

export async function toPngFile(picture: SvgPicture): Promise<Blob> {
  const image = new Image(picture.width, picture.height);
  image.src = toPictureUrl(picture);
  await image.decode();
  const scale = Math.min(SCALE, MAX_PIXELS / Math.max(picture.width, picture.height));
  const canvas = document.createElement('canvas');
  canvas.width = Math.ceil(picture.width * scale);
  canvas.height = Math.ceil(picture.height * scale);
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  const { promise, resolve, reject } = Promise.withResolvers<Blob>();
  canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error(m.reply_diagram_png_too_large()))), 'image/png');
  return promise;
}
