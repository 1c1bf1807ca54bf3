export const SVG_TYPE = 'image/svg+xml';

/** CSS pixels per side of the bitmap that an SVG becomes. */
const MAX_SIDE_PX = 4096;
/** Bitmap pixels per CSS pixel, so that it stays sharp on dense screens. */
const PIXEL_RATIO = 2;

export const isSvg = ({ type }: Blob): boolean => type.split(';', 1)[0]?.trim().toLowerCase() === SVG_TYPE;

/**
 * Renders an SVG as a PNG that fits into a box of CSS pixels. As an image, an SVG runs no scripts and loads no resources. Throws an Error if
 * the browser cannot read it.
 */
export async function rasterizeSvg(svg: Blob, box: { readonly width: number; readonly height: number }): Promise<Blob> {
  const image = new Image();
  // A data URL: some pages forbid object URLs in images.
  image.src = `data:${SVG_TYPE};charset=utf-8,${encodeURIComponent(await svg.text())}`;
  try {
    await image.decode();
  } catch (error) {
    throw new Error('The browser can’t read this SVG. Check that it is well-formed and has xmlns="http://www.w3.org/2000/svg".', {
      cause: error,
    });
  }
  // An SVG without an intrinsic size fills the box.
  const [width, height] =
    image.naturalWidth > 0 && image.naturalHeight > 0 ? [image.naturalWidth, image.naturalHeight] : [box.width, box.height];
  const fitted = Math.min(box.width / width, box.height / height) * PIXEL_RATIO;
  const scale = Math.min(fitted, MAX_SIDE_PX / width, MAX_SIDE_PX / height);
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(width * scale));
  canvas.height = Math.max(1, Math.round(height * scale));
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob((png) => (png ? resolve(png) : reject(new Error('This browser can’t turn the SVG into a picture.'))), 'image/png');
  });
}
