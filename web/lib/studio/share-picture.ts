import type { Drawing } from '#shared/canvas/drawing.ts';
import { exportImage } from '../../paint/export-image.ts';

/** Copies the picture to the clipboard. Rejects if the browser does not allow it, or the picture cannot be created. */
export async function copyPicture(drawing: Drawing): Promise<void> {
  const png = exportImage(drawing).then((bytes) => new Blob([bytes], { type: 'image/png' }));
  // Given as a promise: some browsers allow it only while the press that asked for it is fresh.
  await navigator.clipboard.write([new ClipboardItem({ 'image/png': png })]);
}

/** Whether this device hands pictures to other programs. */
export const canSharePictures = (): boolean =>
  typeof navigator.canShare === 'function' && navigator.canShare({ files: [new File([''], 'drawing.png', { type: 'image/png' })] });

/** Opens the device’s share sheet. A person who closes it has changed their mind. */
export async function sharePicture(file: File, text: string): Promise<void> {
  try {
    await navigator.share({ files: [file], ...(text === '' ? {} : { text }) });
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'AbortError')) throw error;
  }
}
