import type { Shape } from '#shared/canvas/fields.ts';
import { type Box, isHit, overlap, shapeAt, sheetOf } from '#shared/canvas/geometry.ts';
import { dragged, type Handle, handleAt, isHeld, spanOf } from '#shared/canvas/handles.ts';
import type { Point } from '#shared/canvas/path.ts';
import { measureText } from '../../../paint/measure.ts';
import type { Sample } from '../pointing.ts';
import { type Begin, type Bench, type Gesture, reachOf } from './bench.ts';
import { cropHold } from './crop.ts';

/** Creates a gesture that acts where a press ends. */
const pressing =
  (done: (bench: Bench, at: Sample) => void): Begin =>
  (bench, first) => {
    let last = first;
    return {
      extend: (samples) => void (last = samples.at(-1) ?? last),
      end: () => done(bench, last),
      cancel: () => undefined,
    };
  };

/** The next number is put there. */
export const beginMarker = pressing((bench, { x, y }) => {
  const labels = bench.drawing.shapes.flatMap((shape) => (shape.kind === 'marker' ? [Number(shape.label)] : []));
  const label = String(Math.max(0, ...labels.filter(Number.isInteger)) + 1);
  const size = Math.max(24, Math.round(bench.look.fontSize * 1.4));
  bench.editor.add('marker', { x, y, label, color: bench.look.color, size });
  bench.say(bench.words.marker(label));
});

/** Edits the text at that position, or begins a new one. */
export const beginText = pressing((bench, { x, y }) => {
  const there = shapeAt(bench.drawing.shapes, [x, y], 0, measureText);
  if (there?.kind === 'text' || there?.kind === 'callout') return bench.write(there);
  const { color, fontSize } = bench.look;
  const look = { opacity: 1, rotation: 0, antiAlias: true, hidden: false, locked: false, order: 'a0' };
  bench.write({ id: 'draft', kind: 'text', x, y: y - fontSize / 2, text: '', size: fontSize, color, ...look });
});

/** Pans the view. */
export const beginHand: Begin = (bench, from) => ({
  extend(samples) {
    const to = samples.at(-1);
    if (to) bench.view.pan((to.x - from.x) * bench.view.zoom, (to.y - from.y) * bench.view.zoom);
  },
  end: () => undefined,
  cancel: () => undefined,
});

/** Removes the shapes that the pointer passes over, in one step at the end. */
export const beginErase: Begin = (bench, first, held) => {
  const reach = reachOf(bench, held) / 2;
  const there = bench.drawing.shapes
    .filter(({ hidden, locked }) => !hidden && !locked)
    .map((shape) => ({ shape, box: around(shape, reach) }));
  const gone = new Map<string, Shape>();
  let last: Sample = first;
  const pass = (to: Sample): void => {
    // Includes shapes between two samples.
    const steps = Math.max(1, Math.ceil(Math.hypot(to.x - last.x, to.y - last.y) / Math.max(reach, 1)));
    for (let step = 1; step <= steps; step++) {
      const at: Point = [last.x + ((to.x - last.x) * step) / steps, last.y + ((to.y - last.y) * step) / steps];
      const spot = { x: at[0], y: at[1], width: 0.001, height: 0.001 };
      for (const { shape, box } of there)
        if (!gone.has(shape.id) && overlap(box, spot) && isHit(shape, at, reach, measureText)) gone.set(shape.id, shape);
    }
    last = to;
    if (gone.size > 0) bench.preview([...gone.values()].map((shape) => ({ ...shape, hidden: true })));
  };
  pass(first);
  return {
    extend: (samples) => samples.forEach(pass),
    end() {
      bench.preview(undefined);
      const count = bench.actions.remove([...gone.keys()]);
      if (count > 0) bench.say(bench.words.did('erased', bench.words.shapes(count)));
    },
    cancel: () => bench.preview(undefined),
  };
};

/** Box outside which a shape cannot be hit. */
function around(shape: Shape, reach: number): Box {
  const { x, y, width, height } = spanOf(shape, measureText);
  const more = reach + ('strokeWidth' in shape ? shape.strokeWidth * 2 + 12 : 0);
  // A callout's tip is outside its box.
  const tip = shape.kind === 'callout' ? Math.hypot(shape.tipX - x, shape.tipY - y) : 0;
  return { x: x - more - tip, y: y - more - tip, width: width + 2 * (more + tip), height: height + 2 * (more + tip) };
}

/** Drags the crop frame by a handle or as a whole; outside it, or while it covers the whole sheet, begins a new one. */
export const beginCrop: Begin = (bench, at, held): Gesture => {
  const before = bench.cropping;
  const from: Point = [at.x, at.y];
  const hold = before && cropHold(before);
  const handle: Handle | undefined = hold && handleAt(hold, from, reachOf(bench, held));
  const sheet = sheetOf(bench.drawing.page);
  const untouched = before?.x === sheet.x && before.y === sheet.y && before.width === sheet.width && before.height === sheet.height;
  const whole = hold !== undefined && handle === undefined && !untouched && isHeld(hold, from);
  const box = before && (handle !== undefined || whole) ? before : { x: at.x, y: at.y, width: 0, height: 0 };
  const show = (next: Box | undefined): void => {
    bench.cropping = next;
    bench.request();
  };
  return {
    extend(samples, { shift }) {
      const to = samples.at(-1);
      if (!to) return;
      if (whole) show({ ...box, x: box.x + to.x - at.x, y: box.y + to.y - at.y });
      else if (handle) show(dragged(box, handle, [to.x, to.y], shift));
      else show({ x: Math.min(at.x, to.x), y: Math.min(at.y, to.y), width: Math.abs(to.x - at.x), height: Math.abs(to.y - at.y) });
    },
    end() {
      const now = bench.cropping;
      if (now && (now.width < 1 || now.height < 1)) show(before);
    },
    cancel: () => show(before),
  };
};
