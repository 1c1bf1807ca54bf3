// A worker has no import map.
import { drawingFromJson, exportImage, exportSvg } from '/perch/ui.js';

globalThis.onmessage = async ({ data }) => {
  try {
    const drawing = drawingFromJson(data);
    postMessage({ png: await exportImage(drawing, { scale: 2 }), svg: await exportSvg(drawing) });
  } catch (error) {
    postMessage({ error: String(error?.stack ?? error) });
  }
};
