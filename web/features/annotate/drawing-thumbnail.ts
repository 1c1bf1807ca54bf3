import { Drawing } from '#shared/canvas/drawing.ts';
import type { DrawingEntry } from '#shared/rpc/methods/drawing-contracts.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { exportImage } from '../../paint/export-image.ts';

/** Pixels of the longer side. */
const SIDE_PX = 480;

/** URLs of thumbnails, by drawing and time of change. */
const urlByDrawing = new Map<string, Promise<string>>();
/** Thumbnails are created one at a time, as each needs the whole drawing in memory. */
let lastTask: Promise<unknown> = Promise.resolve();

/** The URL of a thumbnail of a drawing in its current state. Rejects if it cannot be created; the next call tries again. */
export function getThumbnail(entry: DrawingEntry): Promise<string> {
  const key = `${entry.id} ${entry.updatedAt}`;
  let url = urlByDrawing.get(key);
  if (!url) {
    url = lastTask.then(() => createThumbnail(entry));
    lastTask = url.catch(() => void urlByDrawing.delete(key));
    urlByDrawing.set(key, url);
  }
  return url;
}

async function createThumbnail({ id: drawingId }: DrawingEntry): Promise<string> {
  const { drawing: info, changes } = await gateway.call('drawings.open', { drawingId, follow: false });
  const drawing = new Drawing(info);
  drawing.merge(changes);
  const { width, height } = drawing.page;
  const png = await exportImage(drawing, { type: 'image/png', scale: Math.min(1, SIDE_PX / Math.max(width, height)) });
  return URL.createObjectURL(new Blob([png], { type: 'image/png' }));
}
