import { formatNumber } from '#app/i18n/format.ts';
import { m } from '#app/i18n/messages.ts';

/** A picture in the form that a drawing stores. */
export interface PictureData {
  /** A data URL of the pixels, upright, without metadata such as location and camera. */
  readonly src: string;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** Notice if the image was changed: a sentence. */
  readonly note: string | null;
}

/** A file that cannot be used as a picture; the message names it and the reason. */
export class PictureError extends Error {
  override readonly name = 'PictureError';
}

/** Maximum number of pixels of a picture, which is the limit for a canvas on iPhones. */
const MAX_PIXELS = 16_777_216;
const MAX_SIDE_PX = 8_192;
/** Maximum bytes of a picture file: as base64, with its overhead, it fits into one frame to the gateway. */
const MAX_PICTURE_BYTES = 12 * 1024 * 1024;

/** Lossless formats first; the last one is always small enough. */
const ENCODINGS = [
  { type: 'image/png' },
  { type: 'image/webp', quality: 0.92 },
  { type: 'image/jpeg', quality: 0.9 },
  { type: 'image/jpeg', quality: 0.7 },
] as const;

/** Computes the size of a picture on a drawing: its own, or a smaller one with the same proportions. */
export function fitSize(width: number, height: number): { width: number; height: number } {
  const scale = Math.min(1, MAX_SIDE_PX / width, MAX_SIDE_PX / height, Math.sqrt(MAX_PIXELS / (width * height)));
  return { width: Math.max(1, Math.floor(width * scale)), height: Math.max(1, Math.floor(height * scale)) };
}

/**
 * Reads a picture, with its EXIF orientation applied, and scales it down if it has too many pixels. Throws a PictureError if it is not a
 * picture, or is an SVG, which could contain more than pixels.
 */
export async function readPicture(file: Blob, name = m.annotate_the_picture()): Promise<PictureData> {
  if (file.size === 0) throw new PictureError(m.annotate_file_empty({ name }));
  if (/svg/.test(file.type)) throw new PictureError(m.annotate_file_svg({ name }));
  const bitmap = await decode(file, name);
  try {
    const { width, height } = fitSize(bitmap.width, bitmap.height);
    const isScaledDown = width !== bitmap.width || height !== bitmap.height;
    const canvas = new OffscreenCanvas(width, height);
    const context = canvas.getContext('2d');
    if (!context) throw new PictureError(m.annotate_no_offscreen());
    context.imageSmoothingQuality = 'high';
    context.drawImage(bitmap, 0, 0, width, height);
    const src = await toDataUrl(await encode(canvas, file.type, name));
    const notes = [
      isScaledDown &&
        m.annotate_shrunk({
          name,
          width: formatNumber(bitmap.width),
          height: formatNumber(bitmap.height),
          newWidth: formatNumber(width),
          newHeight: formatNumber(height),
        }),
      (await isAnimated(file)) && m.annotate_moves({ name }),
    ].filter((note) => note !== false);
    return { src, width, height, note: notes.join(' ') || null };
  } finally {
    bitmap.close();
  }
}

async function decode(file: Blob, name: string): Promise<ImageBitmap> {
  try {
    return await createImageBitmap(file, { imageOrientation: 'from-image' });
  } catch {
    const { type } = file;
    throw new PictureError(
      type && !type.startsWith('image/') ? m.annotate_unreadable_type({ name, type }) : m.annotate_unreadable({ name }),
    );
  }
}

/** Whether a picture is animated; false if the browser cannot tell. */
async function isAnimated(file: Blob): Promise<boolean> {
  if (!('ImageDecoder' in globalThis)) return false;
  let decoder: ImageDecoder | undefined;
  try {
    decoder = new ImageDecoder({ type: file.type, data: await file.arrayBuffer() });
    await decoder.tracks.ready;
    return decoder.tracks.selectedTrack?.animated ?? false;
  } catch {
    return false;
  } finally {
    decoder?.close();
  }
}

/** Encodes lossy formats as lossy: a photograph would be ten times as large as PNG. */
async function encode(canvas: OffscreenCanvas, type: string, name: string): Promise<Blob> {
  const isLossy = type === 'image/jpeg' || type === 'image/webp' || type === 'image/avif';
  const formats = ENCODINGS.filter((each) => !isLossy || (type === 'image/jpeg' ? each.type === 'image/jpeg' : each.type !== 'image/png'));
  for (const format of formats) {
    const blob = await canvas.convertToBlob(format);
    if (blob.type === format.type && blob.size <= MAX_PICTURE_BYTES) return blob;
  }
  throw new PictureError(m.annotate_file_too_large({ name, megabytes: formatNumber(MAX_PICTURE_BYTES / 1024 / 1024) }));
}

export function toDataUrl(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
}
