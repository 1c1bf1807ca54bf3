import type { Edge } from '#shared/canvas/arrange.ts';
import type { Move } from '#shared/canvas/editor.ts';
import type { EndHandle } from '#shared/canvas/handles.ts';
import type { DrawStyle } from '#canvas/studio/tool-context.ts';
import type { StudioAction, StudioEvent, StudioTexts } from '#canvas/studio/studio-texts.ts';
import { formatNumber } from '#app/i18n/format.ts';
import { m } from '#app/i18n/messages.ts';
import { getKindLabel, getShapeLabel } from './shape-labels.ts';
import { getToolName } from './tool-names.ts';

const ACTION_TEXTS: Readonly<Record<StudioAction, (params: { what: string }) => string>> = {
  removed: (params) => m.annotate_said_removed(params),
  erased: (params) => m.annotate_said_erased(params),
  duplicated: (params) => m.annotate_said_duplicated(params),
  selected: (params) => m.annotate_said_selected(params),
  copied: (params) => m.annotate_said_copied(params),
  pasted: (params) => m.annotate_said_pasted(params),
  moved: (params) => m.annotate_said_moved(params),
  resized: (params) => m.annotate_said_resized(params),
  turned: (params) => m.annotate_said_turned(params),
  tipMoved: (params) => m.annotate_said_tip_moved(params),
  endMoved: (params) => m.annotate_said_end_moved(params),
};

const EVENT_TEXTS: Readonly<Record<StudioEvent, () => string>> = {
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

const ORDER_TEXTS: Readonly<Record<Move, () => string>> = {
  front: () => m.annotate_to_front(),
  forward: () => m.annotate_forward(),
  backward: () => m.annotate_backward(),
  back: () => m.annotate_to_back(),
};

const ALIGN_TEXTS: Readonly<Record<Edge, () => string>> = {
  left: () => m.annotate_align_left(),
  center: () => m.annotate_align_centre(),
  right: () => m.annotate_align_right(),
  top: () => m.annotate_align_top(),
  middle: () => m.annotate_align_middle(),
  bottom: () => m.annotate_align_bottom(),
};

const STYLE_TEXTS: Readonly<Record<keyof DrawStyle, () => string>> = {
  color: () => m.annotate_colour(),
  strokeWidth: () => m.annotate_stroke_width(),
  fill: () => m.annotate_fill(),
  fontSize: () => m.annotate_text_size(),
};

const HANDLE_TEXTS: Readonly<Record<EndHandle, () => string>> = {
  start: () => m.annotate_said_grip_start(),
  end: () => m.annotate_said_grip_end(),
  tip: () => m.annotate_said_grip_tip(),
};

const formatAction = (action: string): string => m.annotate_said_done({ what: action });
const formatInteger = (value: number): string => formatNumber(Math.round(value));
const formatPercent = (share: number): string => m.annotate_percent({ percent: formatInteger(share * 100) });
const formatPoint = (x: number, y: number) => ({ x: formatInteger(x), y: formatInteger(y) });
const formatSize = (width: number, height: number) => ({ width: formatInteger(width), height: formatInteger(height) });

/** Announcements of the studio for screen readers, in the app's language. */
export const studioAnnouncements: StudioTexts = {
  surface: () => m.annotate_said_surface(),
  surfaceKind: () => m.annotate_said_surface_kind(),
  textField: (byTouch) => (byTouch ? m.annotate_said_writing_touch() : m.annotate_said_writing()),
  shape: getShapeLabel,
  shapes: (count) => m.annotate_said_shapes({ count }),
  tool: (tool) => (tool === 'crop' ? m.annotate_said_tool_crop : m.annotate_said_tool)({ name: getToolName(tool) }),
  drawn: (kind) => m.annotate_said_drawn({ kind: getKindLabel(kind) }),
  corner: (number) => m.annotate_said_corner({ number: formatNumber(number) }),
  marker: (label) => m.annotate_said_marker({ label }),
  action: (action, shapes) => ACTION_TEXTS[action]({ what: shapes }),
  event: (event) => EVENT_TEXTS[event](),
  ordered: (move) => formatAction(ORDER_TEXTS[move]()),
  aligned: (edge) => formatAction(ALIGN_TEXTS[edge]()),
  distributed: (axis) => formatAction(axis === 'x' ? m.annotate_distribute_x() : m.annotate_distribute_y()),
  flipped: (axis) => formatAction(axis === 'x' ? m.annotate_flip_x() : m.annotate_flip_y()),
  restyled: (property, shapes) => m.annotate_said_look_changed({ look: STYLE_TEXTS[property](), what: shapes }),
  turnedBy: (degrees) => m.annotate_said_turned_by({ degrees: formatNumber(degrees) }),
  sheetTurned: (degrees) => m.annotate_said_sheet_turned({ degrees: formatNumber(degrees) }),
  at: (x, y) => m.annotate_said_at(formatPoint(x, y)),
  size: (width, height) => m.annotate_said_size(formatSize(width, height)),
  frame: (x, y, width, height) => m.annotate_said_frame({ ...formatPoint(x, y), ...formatSize(width, height) }),
  opacity: (share) => m.annotate_said_opacity({ percent: formatPercent(share) }),
  zoom: (share) => m.annotate_said_zoom({ percent: formatPercent(share) }),
  wholeSheet: (zoom) => m.annotate_said_whole_sheet({ percent: formatPercent(zoom) }),
  cropped: (width, height) => m.annotate_said_cropped(formatSize(width, height)),
  stackPosition: (name, position, count) => m.annotate_said_place({ name, at: formatNumber(position), count: formatNumber(count) }),
  gripped: (handle) => (handle ? HANDLE_TEXTS[handle]() : m.annotate_said_grip_all()),
};
