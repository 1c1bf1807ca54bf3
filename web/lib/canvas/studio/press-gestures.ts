import type { Shape } from '#shared/canvas/shape-fields.ts';
import { type Box, isHit, isOverlapping, findShapeAt, getPageBox } from '#shared/canvas/geometry.ts';
import { resizeBox, type Handle, findHandleAt, isInFrame, getSpan } from '#shared/canvas/handles.ts';
import type { Point } from '#shared/canvas/path.ts';
import { measureText } from '../../../paint/measure-text.ts';
import type { PointerSample } from '../pointer-gestures.ts';
import { type BeginGesture, type ToolContext, type Gesture, getHitMargin } from './tool-context.ts';
import { createCropHandles } from './crop-handles.ts';

/** Creates a gesture that acts where a press ends. */
const createPressGesture =
  (done: (bench: ToolContext, at: PointerSample) => void): BeginGesture =>
  (bench, first) => {
    let last = first;
    return {
      extend: (samples) => void (last = samples.at(-1) ?? last),
      end: () => done(bench, last),
      cancel: () => undefined,
    };
  };

/** The next number is put there. */
export const beginMarker = createPressGesture((bench, { x, y }) => {
  const labels = bench.drawing.shapes.flatMap((shape) => (shape.kind === 'marker' ? [Number(shape.label)] : []));
  const label = String(Math.max(0, ...labels.filter(Number.isInteger)) + 1);
  const size = Math.max(24, Math.round(bench.drawStyle.fontSize * 1.4));
  bench.editor.add('marker', { x, y, label, color: bench.drawStyle.color, size });
  bench.announce(bench.texts.marker(label));
});

/** Edits the text at that position, or begins a new one. */
export const beginText = createPressGesture((bench, { x, y }) => {
  const there = findShapeAt(bench.drawing.shapes, [x, y], 0, measureText);
  if (there?.kind === 'text' || there?.kind === 'callout') return bench.openTextField(there);
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
  const there = bench.drawing.shapes
    .filter(({ hidden, locked }) => !hidden && !locked)
    .map((shape) => ({ shape, box: getHitBox(shape, reach) }));
  const gone = new Map<string, Shape>();
  let last: PointerSample = first;
  const pass = (to: PointerSample): void => {
    // Includes shapes between two samples.
    const steps = Math.max(1, Math.ceil(Math.hypot(to.x - last.x, to.y - last.y) / Math.max(reach, 1)));
    for (let step = 1; step <= steps; step++) {
      const at: Point = [last.x + ((to.x - last.x) * step) / steps, last.y + ((to.y - last.y) * step) / steps];
      const spot = { x: at[0], y: at[1], width: 0.001, height: 0.001 };
      for (const { shape, box } of there)
        if (!gone.has(shape.id) && isOverlapping(box, spot) && isHit(shape, at, reach, measureText)) gone.set(shape.id, shape);
    }
    last = to;
    if (gone.size > 0) bench.previewShapes([...gone.values()].map((shape) => ({ ...shape, hidden: true })));
  };
  pass(first);
  return {
    extend: (samples) => samples.forEach(pass),
    end() {
      bench.previewShapes(undefined);
      const count = bench.actions.remove([...gone.keys()]);
      if (count > 0) bench.announce(bench.texts.action('erased', bench.texts.shapes(count)));
    },
    cancel: () => bench.previewShapes(undefined),
  };
};

/** Box outside which a shape cannot be hit. */
function getHitBox(shape: Shape, reach: number): Box {
  const { x, y, width, height } = getSpan(shape, measureText);
  const more = reach + ('strokeWidth' in shape ? shape.strokeWidth * 2 + 12 : 0);
  // A callout's tip is outside its box.
  const tip = shape.kind === 'callout' ? Math.hypot(shape.tipX - x, shape.tipY - y) : 0;
  return { x: x - more - tip, y: y - more - tip, width: width + 2 * (more + tip), height: height + 2 * (more + tip) };
}

/** Drags the crop frame by a handle or as a whole; outside it, or while it covers the whole sheet, begins a new one. */
export const beginCrop: BeginGesture = (bench, at, held): Gesture => {
  const before = bench.cropFrame;
  const from: Point = [at.x, at.y];
  const hold = before && createCropHandles(before);
  const handle: Handle | undefined = hold && findHandleAt(hold, from, getHitMargin(bench, held));
  const sheet = getPageBox(bench.drawing.page);
  const untouched = before?.x === sheet.x && before.y === sheet.y && before.width === sheet.width && before.height === sheet.height;
  const isMove = hold !== undefined && handle === undefined && !untouched && isInFrame(hold, from);
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
