// Exports for the page of studio.test.ts: the studio, and functions that create and export drawings.
export { Drawing } from '../../shared/canvas/drawing.ts';
export { SAMPLES, createSampleShape } from '../../shared/canvas/shape-samples.ts';
export { Studio } from '../../web/canvas/studio.ts';
export { exportImage, exportSvg } from '../../web/paint/export-image.ts';
