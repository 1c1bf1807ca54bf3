import { snapToAxis, snapToAngle } from '#shared/canvas/constrain.ts';
import type { FieldValues } from '#shared/canvas/change.ts';
import type { Shape } from '#shared/canvas/shape-fields.ts';
import { type Box, isOverlapping, getPageBox, findShapeAt, rotatePoint, isWithin } from '#shared/canvas/geometry.ts';
import {
  resizeBox,
  type EndHandle,
  moveEnd,
  type Handle,
  findHandleAt,
  type SelectionFrame,
  isEndHandle,
  isInFrame,
  shouldKeepRatio,
  getSpan,
  getCombinedSpan,
} from '#shared/canvas/handles.ts';
import type { Point } from '#shared/canvas/path.ts';
import { type SnapParts, toSnapLines, type SnapLines, computeSnap, ALL_PARTS } from '#shared/canvas/snap.ts';
import { normalizeAngle, getCenter, moveShape, reframeShape, resizeShape, rotateShape } from '#shared/canvas/transform.ts';
import { measureText } from '../../paint/measure-text.ts';
import type { GestureModifiers, PointerSample } from '../pointer-gestures.ts';
import { type BeginGesture, type ToolContext, MIN_DRAG_PX, type Gesture, getHitMargin } from './tool-context.ts';
import type { StudioAction } from './studio-texts.ts';

/** Distance within which edges snap, in CSS pixels of the page. */
const SNAP_PX = 6;

/** Drags a handle, or shapes, or a selection rectangle. */
export const beginSelect: BeginGesture = (bench, at, modifiers) => {
  const { selectionFrame } = bench;
  const point: Point = [at.x, at.y];
  const handle = selectionFrame && findHandleAt(selectionFrame, point, getHitMargin(bench, modifiers));
  if (selectionFrame && handle) return createChangeGesture(bench, point, createResizeGesture(bench, selectionFrame, handle, point));
  const hit = findShapeAt(bench.drawing.shapes, point, getHitMargin(bench, modifiers) / 2, measureText);
  const { selection } = bench;
  if (modifiers.shift && hit) {
    bench.select(selection.includes(hit.id) ? selection.filter((id) => id !== hit.id) : [...selection, hit.id]);
    return NO_CHANGE;
  }
  if (modifiers.shift || (!hit && !(selectionFrame && isInFrame(selectionFrame, point))))
    return createBandGesture(bench, point, modifiers.shift ? selection : []);
  if (hit && !selection.includes(hit.id)) bench.select([hit.id]);
  // A press without a drag selects the pressed shape; a drag moves the whole selection.
  return createChangeGesture(bench, point, createMoveGesture(bench, point), () => {
    bench.select(hit ? [hit.id] : []);
    if (hit?.kind === 'marker') bench.openNote(hit.id);
  });
};

const NO_CHANGE: Gesture = { extend: () => undefined, end: () => undefined, cancel: () => undefined };

interface SelectionChange {
  readonly action: StudioAction;
  /** New fields of each selected shape for a position of the pointer. */
  readonly toFields: (shape: Shape, at: Point) => FieldValues;
  /** Adjusts the position of the pointer, for example by snapping. */
  readonly place?: (at: Point, modifiers: GestureModifiers) => Point;
}

/** A gesture that previews changes of the selected shapes, and applies them when it ends. */
function createChangeGesture(bench: ToolContext, from: Point, { action, toFields, place }: SelectionChange, onPress?: () => void): Gesture {
  const shapes = bench.selectedShapes.filter(({ locked }) => !locked);
  let sets: (readonly [string, FieldValues])[] = [];
  let isDrag = false;
  const stop = (): void => {
    bench.gestureDisplay.guides = [];
    bench.previewShapes(undefined);
  };
  return {
    extend(samples, modifiers) {
      const last = samples.at(-1);
      if (!last) return;
      isDrag ||= Math.hypot(last.x - from[0], last.y - from[1]) * bench.view.zoom >= MIN_DRAG_PX;
      if (!isDrag) return;
      const at = place?.([last.x, last.y], modifiers) ?? ([last.x, last.y] as const);
      const fields = shapes.map((shape) => [shape, toFields(shape, at)] as const);
      sets = fields.map(([{ id }, set]) => [id, set] as const).filter(([, set]) => Object.keys(set).length > 0);
      bench.previewShapes(fields.map(([shape, set]) => ({ ...shape, ...set }) as Shape));
    },
    end() {
      stop();
      if (!isDrag) return onPress?.();
      const existingSets = sets.filter(([id]) => bench.drawing.shape(id));
      if (existingSets.length === 0) return;
      bench.editor.setAll(existingSets);
      const { texts } = bench;
      bench.announce(
        texts.action(action, existingSets.length === 1 && shapes[0] ? texts.shape(shapes[0]) : texts.shapes(existingSets.length)),
      );
    },
    cancel: stop,
  };
}

/** Snap lines for the selected shapes: other visible shapes and the sheet. */
function getSnapLines(bench: ToolContext): SnapLines {
  const visibleBox = bench.view.box;
  const boxes = bench.drawing.shapes
    .filter(({ id, hidden }) => !hidden && !bench.selection.includes(id))
    .map((shape) => getSpan(shape, measureText))
    .filter((box) => isOverlapping({ ...box, width: box.width + 0.001, height: box.height + 0.001 }, visibleBox));
  return toSnapLines([getPageBox(bench.drawing.page), ...boxes]);
}

function createMoveGesture(bench: ToolContext, from: Point): SelectionChange {
  const lines = getSnapLines(bench);
  const box = getCombinedSpan(
    bench.selectedShapes.filter(({ locked }) => !locked),
    measureText,
  );
  return {
    action: 'moved',
    place(at, modifiers) {
      const [x, y] = modifiers.shift ? snapToAxis(from, at) : at;
      const to = { ...box, x: box.x + x - from[0], y: box.y + y - from[1] };
      const { dx, dy } = snap(bench, to, { lines, modifiers, parts: ALL_PARTS });
      return [x + dx, y + dy];
    },
    toFields: (shape, [x, y]) => moveShape(shape, x - from[0], y - from[1]),
  };
}

/** Returns the distance to the nearest snap line and shows that line. */
function snap(
  bench: ToolContext,
  box: Box,
  { lines, modifiers, parts }: { lines: SnapLines; modifiers: GestureModifiers; parts: SnapParts },
): { dx: number; dy: number } {
  const none = { dx: 0, dy: 0, guides: [] };
  const { dx, dy, guides } = modifiers.mod ? none : computeSnap(box, lines, SNAP_PX / bench.view.zoom, parts);
  bench.gestureDisplay.guides = guides;
  return { dx, dy };
}

function createResizeGesture(bench: ToolContext, frame: SelectionFrame, handle: Handle, from: Point): SelectionChange {
  const [shape] = bench.selectedShapes;
  const single = bench.selectedShapes.length === 1 ? shape : undefined;
  if (handle === 'turn') return createRotateGesture(bench, frame, from);
  if (isEndHandle(handle)) return createEndGesture(frame, handle);
  const lines = getSnapLines(bench);
  // Keeps the offset between the pointer and the middle of the handle.
  const grabbed = frame.handles.find(({ name }) => name === handle)?.at ?? from;
  const [offX, offY] = [grabbed[0] - from[0], grabbed[1] - from[1]];
  const side = (start: string, end: string) =>
    handle.includes(start) ? (['start'] as const) : handle.includes(end) ? (['end'] as const) : [];
  const parts: SnapParts = { x: side('w', 'e'), y: side('n', 's') };
  let keepsRatio = false;
  const boxAt = (at: Point): Box => resizeBox(frame.box, handle, rotatePoint(at, frame.box, -frame.rotation), keepsRatio);
  return {
    action: 'resized',
    place([x, y], modifiers) {
      const isCorner = handle.length === 2;
      keepsRatio = shouldKeepRatio(bench.selectedShapes)
        ? isCorner && !(modifiers.shift && single?.kind === 'image')
        : modifiers.shift && isCorner;
      const at: Point = [x + offX, y + offY];
      if (frame.rotation !== 0 || keepsRatio) {
        bench.gestureDisplay.guides = [];
        return at;
      }
      const { dx, dy } = snap(bench, boxAt(at), { lines, modifiers, parts });
      return [at[0] + dx, at[1] + dy];
    },
    toFields: (each, at) => (single ? reframeShape(each, boxAt(at), measureText) : resizeShape(each, frame.box, boxAt(at), measureText)),
  };
}

function createRotateGesture(bench: ToolContext, { box, rotation }: SelectionFrame, from: Point): SelectionChange {
  const about = getCenter(box);
  const angle = ([x, y]: Point): number => (Math.atan2(y - about[1], x - about[0]) * 180) / Math.PI;
  let isStepped = false;
  return {
    action: 'turned',
    place(at, modifiers) {
      isStepped = modifiers.shift;
      return at;
    },
    toFields(shape, at) {
      const by = angle(at) - angle(from);
      const to = isStepped ? Math.round((rotation + by) / 15) * 15 : rotation + by;
      return rotateShape(shape, about, normalizeAngle(to - rotation), measureText);
    },
  };
}

function createEndGesture(frame: SelectionFrame, end: EndHandle): SelectionChange {
  const fixed = end === 'tip' ? undefined : frame.handles.find(({ name }) => name !== end)?.at;
  return {
    action: end === 'tip' ? 'tipMoved' : 'endMoved',
    place: (at, modifiers) => (modifiers.shift && fixed ? snapToAngle(fixed, at) : at),
    toFields: (_, at) => moveEnd(frame, end, at),
  };
}

/** Selects shapes that lie entirely within a rectangle. */
function createBandGesture(bench: ToolContext, from: Point, before: readonly string[]): Gesture {
  const stop = (): void => {
    bench.gestureDisplay.band = undefined;
    bench.requestRepaint();
  };
  bench.select(before);
  let to: PointerSample | undefined;
  return {
    extend(samples) {
      to = samples.at(-1) ?? to;
      if (!to) return;
      const [x, y] = [Math.min(from[0], to.x), Math.min(from[1], to.y)];
      bench.gestureDisplay.band = { x, y, width: Math.abs(to.x - from[0]), height: Math.abs(to.y - from[1]) };
      bench.requestRepaint();
    },
    end() {
      const box = bench.gestureDisplay.band;
      stop();
      if (!box) return;
      const enclosed = bench.drawing.shapes.filter((each) => !each.hidden && !each.locked && isWithin(getSpan(each, measureText), box));
      const ids = [...new Set([...before, ...enclosed.map(({ id }) => id)])];
      bench.select(ids);
    },
    cancel: stop,
  };
}
