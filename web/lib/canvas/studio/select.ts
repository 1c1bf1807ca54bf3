import { alongTo, angledTo } from '#shared/canvas/constrain.ts';
import type { FieldValues } from '#shared/canvas/change.ts';
import type { Shape } from '#shared/canvas/fields.ts';
import { type Box, overlap, sheetOf, shapeAt, turned, within } from '#shared/canvas/geometry.ts';
import {
  dragged,
  type End,
  endMoved,
  type Handle,
  handleAt,
  type Hold,
  isEnd,
  isHeld,
  keepsRatio,
  spanOf,
  spanOfAll,
} from '#shared/canvas/handles.ts';
import type { Point } from '#shared/canvas/path.ts';
import { type Snapping, snapLines, type SnapLines, snapped, WHOLE } from '#shared/canvas/snap.ts';
import { angleOf, middleOf, moved, reframed, resizedWith, turnedAbout } from '#shared/canvas/transform.ts';
import { measureText } from '../../../paint/measure.ts';
import type { Held, Sample } from '../pointing.ts';
import { type Begin, type Bench, DRAG, type Gesture, reachOf } from './bench.ts';
import type { Doing } from './words.ts';

/** How near something snaps, in CSS pixels of the page. */
const SNAP = 6;

/** Takes hold of handles, of shapes, or of nothing: then a rubber band. */
export const beginSelect: Begin = (bench, at, held) => {
  const { hold } = bench;
  const point: Point = [at.x, at.y];
  const handle = hold && handleAt(hold, point, reachOf(bench, held));
  if (hold && handle) return changing(bench, point, resizing(bench, hold, handle, point));
  const hit = shapeAt(bench.drawing.shapes, point, reachOf(bench, held) / 2, measureText);
  const { selection } = bench;
  if (held.shift && hit) {
    bench.select(selection.includes(hit.id) ? selection.filter((id) => id !== hit.id) : [...selection, hit.id]);
    return NOTHING;
  }
  if (held.shift || (!hit && !(hold && isHeld(hold, point)))) return band(bench, point, held.shift ? selection : []);
  if (hit && !selection.includes(hit.id)) bench.select([hit.id]);
  // A press without a drag selects the pressed shape; a drag moves the whole selection.
  return changing(bench, point, moving(bench, point), () => bench.select(hit ? [hit.id] : []));
};

const NOTHING: Gesture = { extend: () => undefined, end: () => undefined, cancel: () => undefined };

interface Change {
  readonly said: Doing;
  /** New fields of each selected shape for a position of the pointer. */
  readonly to: (shape: Shape, at: Point) => FieldValues;
  /** Adjusts the position of the pointer, for example by snapping. */
  readonly place?: (at: Point, held: Held) => Point;
}

/** A gesture that shows the chosen shapes changed, and changes them once it ends. */
function changing(bench: Bench, from: Point, { said, to, place }: Change, pressed?: () => void): Gesture {
  const shapes = bench.chosen.filter(({ locked }) => !locked);
  let sets: (readonly [string, FieldValues])[] = [];
  let far = false;
  const stop = (): void => {
    bench.showing.guides = [];
    bench.preview(undefined);
  };
  return {
    extend(samples, held) {
      const last = samples.at(-1);
      if (!last) return;
      far ||= Math.hypot(last.x - from[0], last.y - from[1]) * bench.view.zoom >= DRAG;
      if (!far) return;
      const at = place?.([last.x, last.y], held) ?? ([last.x, last.y] as const);
      const fields = shapes.map((shape) => [shape, to(shape, at)] as const);
      sets = fields.map(([{ id }, set]) => [id, set] as const).filter(([, set]) => Object.keys(set).length > 0);
      bench.preview(fields.map(([shape, set]) => ({ ...shape, ...set }) as Shape));
    },
    end() {
      stop();
      if (!far) return pressed?.();
      const there = sets.filter(([id]) => bench.drawing.shape(id));
      if (there.length === 0) return;
      bench.editor.setAll(there);
      const { words } = bench;
      bench.say(words.did(said, there.length === 1 && shapes[0] ? words.shape(shapes[0]) : words.shapes(there.length)));
    },
    cancel: stop,
  };
}

/** Snap lines for the selected shapes: other visible shapes and the sheet. */
function linesOf(bench: Bench): SnapLines {
  const seen = bench.view.box;
  const boxes = bench.drawing.shapes
    .filter(({ id, hidden }) => !hidden && !bench.selection.includes(id))
    .map((shape) => spanOf(shape, measureText))
    .filter((box) => overlap({ ...box, width: box.width + 0.001, height: box.height + 0.001 }, seen));
  return snapLines([sheetOf(bench.drawing.page), ...boxes]);
}

function moving(bench: Bench, from: Point): Change {
  const lines = linesOf(bench);
  const box = spanOfAll(
    bench.chosen.filter(({ locked }) => !locked),
    measureText,
  );
  return {
    said: 'moved',
    place(at, held) {
      const [x, y] = held.shift ? alongTo(from, at) : at;
      const to = { ...box, x: box.x + x - from[0], y: box.y + y - from[1] };
      const { dx, dy } = snapping(bench, to, { lines, held, what: WHOLE });
      return [x + dx, y + dy];
    },
    to: (shape, [x, y]) => moved(shape, x - from[0], y - from[1]),
  };
}

/** Returns the distance to the nearest snap line and shows that line. */
function snapping(
  bench: Bench,
  box: Box,
  { lines, held, what }: { lines: SnapLines; held: Held; what: Snapping },
): { dx: number; dy: number } {
  const none = { dx: 0, dy: 0, guides: [] };
  const { dx, dy, guides } = held.mod ? none : snapped(box, lines, SNAP / bench.view.zoom, what);
  bench.showing.guides = guides;
  return { dx, dy };
}

function resizing(bench: Bench, hold: Hold, handle: Handle, from: Point): Change {
  const [shape] = bench.chosen;
  const single = bench.chosen.length === 1 ? shape : undefined;
  if (handle === 'turn') return turning(bench, hold, from);
  if (isEnd(handle)) return ending(hold, handle);
  const lines = linesOf(bench);
  // Keeps the offset between the pointer and the middle of the handle.
  const grabbed = hold.handles.find(({ name }) => name === handle)?.at ?? from;
  const [offX, offY] = [grabbed[0] - from[0], grabbed[1] - from[1]];
  const side = (start: string, end: string) =>
    handle.includes(start) ? (['start'] as const) : handle.includes(end) ? (['end'] as const) : [];
  const what: Snapping = { x: side('w', 'e'), y: side('n', 's') };
  let ratio = false;
  const boxAt = (at: Point): Box => dragged(hold.box, handle, turned(at, hold.box, -hold.rotation), ratio);
  return {
    said: 'resized',
    place([x, y], held) {
      const corner = handle.length === 2;
      ratio = keepsRatio(bench.chosen) ? corner && !(held.shift && single?.kind === 'image') : held.shift && corner;
      const at: Point = [x + offX, y + offY];
      if (hold.rotation !== 0 || ratio) {
        bench.showing.guides = [];
        return at;
      }
      const { dx, dy } = snapping(bench, boxAt(at), { lines, held, what });
      return [at[0] + dx, at[1] + dy];
    },
    to: (each, at) => (single ? reframed(each, boxAt(at), measureText) : resizedWith(each, hold.box, boxAt(at), measureText)),
  };
}

function turning(bench: Bench, { box, rotation }: Hold, from: Point): Change {
  const about = middleOf(box);
  const angle = ([x, y]: Point): number => (Math.atan2(y - about[1], x - about[0]) * 180) / Math.PI;
  let step = false;
  return {
    said: 'turned',
    place(at, held) {
      step = held.shift;
      return at;
    },
    to(shape, at) {
      const by = angle(at) - angle(from);
      const to = step ? Math.round((rotation + by) / 15) * 15 : rotation + by;
      return turnedAbout(shape, about, angleOf(to - rotation), measureText);
    },
  };
}

function ending(hold: Hold, end: End): Change {
  const fixed = end === 'tip' ? undefined : hold.handles.find(({ name }) => name !== end)?.at;
  return {
    said: end === 'tip' ? 'tipMoved' : 'endMoved',
    place: (at, held) => (held.shift && fixed ? angledTo(fixed, at) : at),
    to: (_, at) => endMoved(hold, end, at),
  };
}

/** Chooses what lies wholly within a band. */
function band(bench: Bench, from: Point, before: readonly string[]): Gesture {
  const stop = (): void => {
    bench.showing.band = undefined;
    bench.request();
  };
  bench.select(before);
  let to: Sample | undefined;
  return {
    extend(samples) {
      to = samples.at(-1) ?? to;
      if (!to) return;
      const [x, y] = [Math.min(from[0], to.x), Math.min(from[1], to.y)];
      bench.showing.band = { x, y, width: Math.abs(to.x - from[0]), height: Math.abs(to.y - from[1]) };
      bench.request();
    },
    end() {
      const box = bench.showing.band;
      stop();
      if (!box) return;
      const found = bench.drawing.shapes.filter((each) => !each.hidden && !each.locked && within(spanOf(each, measureText), box));
      const ids = [...new Set([...before, ...found.map(({ id }) => id)])];
      bench.select(ids);
    },
    cancel: stop,
  };
}
