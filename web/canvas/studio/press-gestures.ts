import type { Shape } from '#shared/canvas/shape-fields.ts';
import { type Box, isHit, isOverlapping, findShapeAt, getPageBox } from '#shared/canvas/geometry.ts';
import { resizeBox, type Handle, findHandleAt, isInFrame, getSpan } from '#shared/canvas/handles.ts';
import type { Point } from '#shared/canvas/path.ts';
import { measureText } from '../../paint/measure-text.ts';
import type { PointerSample } from '../pointer-gestures.ts';
import { type BeginGesture, type ToolContext, type Gesture, getHitMargin } from './tool-context.ts';
import { createCropHandles } from './crop-handles.ts';

/** Creates a gesture that acts where a press ends. */
const createPressGesture =
  (onEnd: (bench: ToolContext, at: PointerSample) => void): BeginGesture =>
  (bench, first) => {
    let last = first;
    return {
      extend: (samples) => void (last = samples.at(-1) ?? last),
      end: () => onEnd(bench, last),
      cancel: () => undefined,
    };
  };

/** Smallest diameter of a new marker, in CSS pixels of the style. */
const MIN_MARKER_SIZE = 24;

/** Adds a marker with the next number and opens its note; on a marker, opens that one's note. */
export const beginMarker = createPressGesture((bench, { x, y }) => {
  const hit = findShapeAt(bench.drawing.shapes, [x, y], 0, measureText);
  if (hit?.kind === 'marker') return bench.openNote(hit.id);
  const labels = bench.drawing.shapes.flatMap((shape) => (shape.kind === 'marker' ? [Number(shape.label)] : []));
  const label = String(Math.max(0, ...labels.filter(Number.isInteger)) + 1);
  const size = Math.min(4000, Math.round(Math.max(MIN_MARKER_SIZE / bench.styleZoom, bench.drawStyle.fontSize * 1.4)));
  const { id } = bench.editor.add('marker', { x, y, label, color: bench.drawStyle.color, size });
  bench.announce(bench.texts.marker(label));
  bench.openNote(id);
});

/** Edits the text at that position, or begins a new one. */
export const beginText = createPressGesture((bench, { x, y }) => {
  const hit = findShapeAt(bench.drawing.shapes, [x, y], 0, measureText);
  if (hit?.kind === 'text' || hit?.kind === 'callout') return bench.openTextField(hit);
  const { color, fontSize } = bench.drawStyle;
  const defaultStyle = { opacity: 1, rotation: 0, antiAlias: true, hidden: false, locked: false, order: 'a0' };
  bench.openTextField({ id: 'draft', kind: 'text', x, y: y - fontSize / 2, text: '', size: fontSize, color, ...defaultStyle });
});

/** Pans the view. */
export const beginHand: BeginGesture = (bench, from) => ({
  extend(samples) {
    const to = samples.at(-1);
    if (to) bench.view.pan((to.x - from.x) * bench.view.zoom, (to.y - from.y) * bench.view.zoom);
  },
  end: () => undefined,
  cancel: () => undefined,
});

/** Removes the shapes that the pointer passes over, in one step at the end. */
export const beginErase: BeginGesture = (bench, first, modifiers) => {
  const reach = getHitMargin(bench, modifiers) / 2;
  const candidates = bench.drawing.shapes
    .filter(({ hidden, locked }) => !hidden && !locked)
    .map((shape) => ({ shape, box: getHitBox(shape, reach) }));
  const erased = new Map<string, Shape>();
  let last: PointerSample = first;
  const eraseTo = (to: PointerSample): void => {
    // Includes shapes between two samples.
    const steps = Math.max(1, Math.ceil(Math.hypot(to.x - last.x, to.y - last.y) / Math.max(reach, 1)));
    for (let step = 1; step <= steps; step++) {
      const at: Point = [last.x + ((to.x - last.x) * step) / steps, last.y + ((to.y - last.y) * step) / steps];
      const pointBox = { x: at[0], y: at[1], width: 0.001, height: 0.001 };
      for (const { shape, box } of candidates)
        if (!erased.has(shape.id) && isOverlapping(box, pointBox) && isHit(shape, at, reach, measureText)) erased.set(shape.id, shape);
    }
    last = to;
    if (erased.size > 0) bench.previewShapes([...erased.values()].map((shape) => ({ ...shape, hidden: true })));
  };
  eraseTo(first);
  return {
    extend: (samples) => samples.forEach(eraseTo),
    end() {
      bench.previewShapes(undefined);
      const count = bench.actions.remove([...erased.keys()]);
      if (count > 0) bench.announce(bench.texts.action('erased', bench.texts.shapes(count)));
    },
    cancel: () => bench.previewShapes(undefined),
  };
};

/** Box outside which a shape cannot be hit. */
function getHitBox(shape: Shape, reach: number): Box {
  const { x, y, width, height } = getSpan(shape, measureText);
  const margin = reach + ('strokeWidth' in shape ? shape.strokeWidth * 2 + 12 : 0);
  // A callout's tip is outside its box.
  const tip = shape.kind === 'callout' ? Math.hypot(shape.tipX - x, shape.tipY - y) : 0;
  return { x: x - margin - tip, y: y - margin - tip, width: width + 2 * (margin + tip), height: height + 2 * (margin + tip) };
}

/** Drags the crop frame by a handle or as a whole; outside it, or while it covers the whole sheet, begins a new one. */
export const beginCrop: BeginGesture = (bench, at, modifiers): Gesture => {
  const before = bench.cropFrame;
  const from: Point = [at.x, at.y];
  const frameHandles = before && createCropHandles(before);
  const handle: Handle | undefined = frameHandles && findHandleAt(frameHandles, from, getHitMargin(bench, modifiers));
  const sheet = getPageBox(bench.drawing.page);
  const isWholeSheet = before?.x === sheet.x && before.y === sheet.y && before.width === sheet.width && before.height === sheet.height;
  const isMove = frameHandles !== undefined && handle === undefined && !isWholeSheet && isInFrame(frameHandles, from);
  const box = before && (handle !== undefined || isMove) ? before : { x: at.x, y: at.y, width: 0, height: 0 };
  const show = (next: Box | undefined): void => {
    bench.cropFrame = next;
    bench.requestRepaint();
  };
  return {
    extend(samples, { shift }) {
      const to = samples.at(-1);
      if (!to) return;
      if (isMove) show({ ...box, x: box.x + to.x - at.x, y: box.y + to.y - at.y });
      else if (handle) show(resizeBox(box, handle, [to.x, to.y], shift));
      else show({ x: Math.min(at.x, to.x), y: Math.min(at.y, to.y), width: Math.abs(to.x - at.x), height: Math.abs(to.y - at.y) });
    },
    end() {
      const frame = bench.cropFrame;
      if (frame && (frame.width < 1 || frame.height < 1)) show(before);
    },
    cancel: () => show(before),
  };
};
