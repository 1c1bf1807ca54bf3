// The drawing classes of `perch/ui`, and the underlying list of shapes.
export { parseChanges, type Change } from '#shared/canvas/change.ts';
export { Drawing, type DrawingEvent, type DrawingOptions } from '#shared/canvas/drawing.ts';
export { Editor, type Move } from '#shared/canvas/editor.ts';
export type { Kind, NewShape, Page, Shape } from '#shared/canvas/shape-fields.ts';
export { DrawingFileError, drawingFromJson, drawingToJson } from '#shared/canvas/drawing-file.ts';
export {
  closePath as ClosePath,
  cubicTo as CubicTo,
  lineTo as LineTo,
  moveTo as MoveTo,
  quadraticTo as QuadraticTo,
  type PathElement,
  type Point,
} from '#shared/canvas/path.ts';
export { drawingToSvg } from '#shared/canvas/drawing-to-svg.ts';
export { AnnotationCanvas } from '../../canvas/annotation-canvas.ts';
export { CanvasPanel, SimpleCanvasPanel, type CanvasPanelOptions } from '../../canvas/canvas-panel.ts';
export { DrawableCanvas, type CanvasOptions } from '../../canvas/drawable-canvas.ts';
export { exportImage, exportSvg, type ImageOptions } from '../../paint/export-image.ts';
export { FreehandCanvas, type FreehandOptions } from '../../canvas/freehand-canvas.ts';
export { ImageCanvas, type ImageCanvasOptions } from '../../canvas/image-canvas.ts';
export { PaintStyle, type Paint } from '../../canvas/paint-style.ts';
export type { Tool } from '../../canvas/drawing-tools.ts';
export type { ImageSource } from '../../canvas/picture-underlay.ts';
