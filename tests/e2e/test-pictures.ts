import { crc32, deflateSync } from 'node:zlib';
import type { Page } from 'playwright';

function toPngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** A white PNG of one bit for each pixel: of any size in a few kilobytes. */
export function createWhitePng(width: number, height: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width);
  header.writeUInt32BE(height, 4);
  header[8] = 1;
  const row = Buffer.alloc(Math.ceil(width / 8) + 1, 255);
  row[0] = 0;
  const rows = deflateSync(Buffer.concat(Array.from({ length: height }, () => row)));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, toPngChunk('IHDR', header), toPngChunk('IDAT', rows), toPngChunk('IEND', Buffer.alloc(0))]);
}

/** A GIF of 2 × 2 pixels that turns from red to blue. */
export const createAnimatedGif = Buffer.from(
  'R0lGODlhAgACAIAAAP8AAAAA/yH/C05FVFNDQVBFMi4wAwEAAAAh+QQACgAAACwAAAAAAgACAAACAwQIFAAh+QQACgAAACwAAAAAAgACAAACA0yYFAA7',
  'base64',
);

/** A JPEG that the browser makes, its left half red and its right half blue, 120 × 80. */
export async function createRedBlueJpeg(page: Page): Promise<Buffer> {
  const base64 = await page.evaluate(async () => {
    const canvas = new OffscreenCanvas(120, 80);
    const context = canvas.getContext('2d');
    if (!context) throw new Error('no canvas');
    for (const [at, color] of ['#ff0000', '#0000ff'].entries()) {
      context.fillStyle = color;
      context.fillRect(at * 60, 0, 60, 80);
    }
    const blob = await canvas.convertToBlob({ type: 'image/jpeg', quality: 0.95 });
    return btoa(String.fromCharCode(...new Uint8Array(await blob.arrayBuffer())));
  });
  return Buffer.from(base64, 'base64');
}

/** A PNG of 64 × 64 random pixels: of some kilobytes, so that half of it is some pixels short. */
export async function createNoisePng(page: Page): Promise<Buffer> {
  const base64 = await page.evaluate(async () => {
    const canvas = new OffscreenCanvas(64, 64);
    const pixels = crypto.getRandomValues(new Uint8ClampedArray(64 * 64 * 4));
    canvas.getContext('2d')?.putImageData(new ImageData(pixels, 64), 0, 0);
    const bytes = new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer());
    return btoa(String.fromCharCode(...bytes));
  });
  return Buffer.from(base64, 'base64');
}

/** The same as a camera held upright stores it: EXIF says that it is to be turned by a quarter, clockwise (orientation 6). */
export function withOrientation(jpeg: Buffer): Buffer {
  const tiff = Buffer.from('4d4d002a00000008000101120003000000010006000000000000', 'hex');
  const exif = Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), tiff]);
  const head = Buffer.from([0xff, 0xe1, 0, exif.length + 2]);
  return Buffer.concat([jpeg.subarray(0, 2), head, exif, jpeg.subarray(2)]);
}

/** Colours of a picture at points, as `#rrggbb`, and its size: decoded by the browser. */
export const readPixels = (
  page: Page,
  bytes: Buffer,
  points: readonly (readonly [number, number])[],
): Promise<{ size: number[]; colors: string[] }> =>
  page.evaluate(
    async ({ base64, points: at }) => {
      const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(base64), (each) => each.charCodeAt(0))]));
      const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
      if (!context) throw new Error('no canvas');
      context.drawImage(bitmap, 0, 0);
      const hex = (value: number): string => value.toString(16).padStart(2, '0');
      const colors = at.map(([x, y]) => {
        const [r = 0, g = 0, b = 0] = context.getImageData(x, y, 1, 1).data;
        return `#${hex(r)}${hex(g)}${hex(b)}`;
      });
      return { size: [bitmap.width, bitmap.height], colors };
    },
    { base64: bytes.toString('base64'), points },
  );
