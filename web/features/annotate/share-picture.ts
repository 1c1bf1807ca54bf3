import type { Drawing } from '#shared/canvas/drawing.ts';
import { exportImage } from '../../paint/export-image.ts';

/** Copies the picture to the clipboard. Rejects if the browser does not allow it, or the picture cannot be created. */
export async function copyPicture(drawing: Drawing): Promise<void> {
  const png = exportImage(drawing).then((bytes) => new Blob([bytes], { type: 'image/png' }));
  // A promise, since some browsers allow writing only directly after the user gesture.
  await navigator.clipboard.write([new ClipboardItem({ 'image/png': png })]);
}

/** Whether this device can share pictures with other programs. */
export const canSharePictures = (): boolean =>
  typeof navigator.canShare === 'function' && navigator.canShare({ files: [new File([''], 'drawing.png', { type: 'image/png' })] });

/** Opens the device’s share sheet. Resolves too if the person closes it. */
export async function sharePicture(file: File, text: string): Promise<void> {
  try {
    await navigator.share({ files: [file], ...(text === '' ? {} : { text }) });
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'AbortError')) throw error;
  }
}
