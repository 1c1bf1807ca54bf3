import type { Edge } from '#shared/canvas/arrange.ts';
import type { Move } from '#shared/canvas/editor.ts';
import type { End } from '#shared/canvas/handles.ts';
import type { Look } from '#lib/canvas/studio/bench.ts';
import type { Doing, Happening, StudioWords } from '#lib/canvas/studio/words.ts';
import { number } from '#lib/i18n/format.ts';
import { m } from '#lib/i18n/pages.ts';
import { kindName, shapeName } from './shape-words.ts';
import { toolName } from './tool-words.ts';

const DID: Readonly<Record<Doing, (what: { what: string }) => string>> = {
  removed: (what) => m.annotate_said_removed(what),
  erased: (what) => m.annotate_said_erased(what),
  duplicated: (what) => m.annotate_said_duplicated(what),
  selected: (what) => m.annotate_said_selected(what),
  copied: (what) => m.annotate_said_copied(what),
  pasted: (what) => m.annotate_said_pasted(what),
  moved: (what) => m.annotate_said_moved(what),
  resized: (what) => m.annotate_said_resized(what),
  turned: (what) => m.annotate_said_turned(what),
  tipMoved: (what) => m.annotate_said_tip_moved(what),
  endMoved: (what) => m.annotate_said_end_moved(what),
};

const HAPPENED: Readonly<Record<Happening, () => string>> = {
  undone: () => m.annotate_said_undone(),
  nothingToUndo: () => m.annotate_said_nothing_to_undo(),
  redone: () => m.annotate_said_redone(),
  nothingToRedo: () => m.annotate_said_nothing_to_redo(),
  givenUp: () => m.annotate_said_given_up(),
  noneSelected: () => m.annotate_said_none_selected(),
  pictureAdded: () => m.annotate_said_picture_added(),
  notCropped: () => m.annotate_said_not_cropped(),
  noRoom: () => m.annotate_said_no_room(),
  textWritten: () => m.annotate_said_text_written(),
  textGone: () => m.annotate_said_text_gone(),
  locked: () => m.annotate_said_locked(),
  unlocked: () => m.annotate_said_unlocked(),
  hidden: () => m.annotate_said_hidden(),
  shown: () => m.annotate_said_shown(),
};

const ORDERED: Readonly<Record<Move, () => string>> = {
  front: () => m.annotate_to_front(),
  forward: () => m.annotate_forward(),
  backward: () => m.annotate_backward(),
  back: () => m.annotate_to_back(),
};

const ALIGNED: Readonly<Record<Edge, () => string>> = {
  left: () => m.annotate_align_left(),
  center: () => m.annotate_align_centre(),
  right: () => m.annotate_align_right(),
  top: () => m.annotate_align_top(),
  middle: () => m.annotate_align_middle(),
  bottom: () => m.annotate_align_bottom(),
};

const LOOKS: Readonly<Record<keyof Look, () => string>> = {
  color: () => m.annotate_colour(),
  strokeWidth: () => m.annotate_stroke_width(),
  fill: () => m.annotate_fill(),
  fontSize: () => m.annotate_text_size(),
};

const GRIPPED: Readonly<Record<End, () => string>> = {
  start: () => m.annotate_said_grip_start(),
  end: () => m.annotate_said_grip_end(),
  tip: () => m.annotate_said_grip_tip(),
};

const done = (what: string): string => m.annotate_said_done({ what });
const whole = (length: number): string => number(Math.round(length));
const percent = (share: number): string => m.annotate_percent({ percent: whole(share * 100) });
const point = (x: number, y: number) => ({ x: whole(x), y: whole(y) });
const extent = (width: number, height: number) => ({ width: whole(width), height: whole(height) });

/** Announcements of the studio for screen readers, in the app's language. */
export const saidWords: StudioWords = {
  surface: () => m.annotate_said_surface(),
  surfaceKind: () => m.annotate_said_surface_kind(),
  writing: (byTouch) => (byTouch ? m.annotate_said_writing_touch() : m.annotate_said_writing()),
  shape: shapeName,
  shapes: (count) => m.annotate_said_shapes({ count }),
  tool: (tool) => (tool === 'crop' ? m.annotate_said_tool_crop : m.annotate_said_tool)({ name: toolName(tool) }),
  drawn: (kind) => m.annotate_said_drawn({ kind: kindName(kind) }),
  corner: (nth) => m.annotate_said_corner({ number: number(nth) }),
  marker: (label) => m.annotate_said_marker({ label }),
  did: (doing, what) => DID[doing]({ what }),
  happened: (what) => HAPPENED[what](),
  ordered: (move) => done(ORDERED[move]()),
  aligned: (edge) => done(ALIGNED[edge]()),
  distributed: (axis) => done(axis === 'x' ? m.annotate_distribute_x() : m.annotate_distribute_y()),
  flipped: (axis) => done(axis === 'x' ? m.annotate_flip_x() : m.annotate_flip_y()),
  restyled: (look, what) => m.annotate_said_look_changed({ look: LOOKS[look](), what }),
  turnedBy: (degrees) => m.annotate_said_turned_by({ degrees: number(degrees) }),
  sheetTurned: (degrees) => m.annotate_said_sheet_turned({ degrees: number(degrees) }),
  at: (x, y) => m.annotate_said_at(point(x, y)),
  size: (width, height) => m.annotate_said_size(extent(width, height)),
  frame: (x, y, width, height) => m.annotate_said_frame({ ...point(x, y), ...extent(width, height) }),
  opacity: (share) => m.annotate_said_opacity({ percent: percent(share) }),
  zoom: (share) => m.annotate_said_zoom({ percent: percent(share) }),
  wholeSheet: (zoom) => m.annotate_said_whole_sheet({ percent: percent(zoom) }),
  cropped: (width, height) => m.annotate_said_cropped(extent(width, height)),
  place: (name, at, of) => m.annotate_said_place({ name, at: number(at), count: number(of) }),
  gripped: (end) => (end ? GRIPPED[end]() : m.annotate_said_grip_all()),
};
