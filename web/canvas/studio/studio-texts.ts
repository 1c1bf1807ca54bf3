import type { Edge } from '#shared/canvas/arrange.ts';
import type { Move } from '#shared/canvas/editor.ts';
import type { Shape } from '#shared/canvas/shape-fields.ts';
import type { EndHandle } from '#shared/canvas/handles.ts';
import type { Axis } from '#shared/canvas/transform.ts';
import { DEFAULT_FIELD_LABEL } from '../text-field.ts';
import type { DrawStyle } from './tool-context.ts';
import { formatShapeCount, getKindName, getShapeName } from './shape-names.ts';
import { type StudioTool, TOOL_NAMES } from './studio-tools.ts';

/** Announced actions on shapes; the names or number of the shapes follow. */
export type StudioAction =
  'removed' | 'erased' | 'duplicated' | 'selected' | 'copied' | 'pasted' | 'moved' | 'resized' | 'turned' | 'tipMoved' | 'endMoved';

/** Announced events without shapes. */
export type StudioEvent =
  | 'undone'
  | 'nothingToUndo'
  | 'redone'
  | 'nothingToRedo'
  | 'givenUp'
  | 'noneSelected'
  | 'pictureAdded'
  | 'notCropped'
  | 'noRoom'
  | 'textWritten'
  | 'textGone'
  | 'locked'
  | 'unlocked'
  | 'hidden'
  | 'shown';

/** Texts of the studio in the page's language. Lengths are CSS pixels of the drawing; shares are 0 to 1, or more for zoom. */
export interface StudioTexts {
  /** Label of the drawing, with its keys. */
  surface(): string;
  surfaceKind(): string;
  /** Label of the field for a text. */
  textField(byTouch: boolean): string;
  /** The name of a shape. */
  shape(shape: Shape): string;
  shapes(count: number): string;
  tool(tool: StudioTool): string;
  drawn(kind: Shape['kind']): string;
  corner(number: number): string;
  marker(label: string): string;
  action(action: StudioAction, shapes: string): string;
  event(event: StudioEvent): string;
  ordered(move: Move): string;
  aligned(edge: Edge): string;
  distributed(axis: Axis): string;
  flipped(axis: Axis): string;
  restyled(property: keyof DrawStyle, shapes: string): string;
  turnedBy(degrees: number): string;
  sheetTurned(degrees: number): string;
  at(x: number, y: number): string;
  size(width: number, height: number): string;
  frame(x: number, y: number, width: number, height: number): string;
  opacity(share: number): string;
  zoom(share: number): string;
  wholeSheet(zoom: number): string;
  cropped(width: number, height: number): string;
  /** Position of a shape among all shapes. */
  stackPosition(name: string, position: number, count: number): string;
  /** The end that arrow keys now move; undefined for the whole shape. */
  gripped(end: EndHandle | undefined): string;
}

const ACTION_TEXTS: Readonly<Record<StudioAction, string>> = {
  removed: 'Deleted',
  erased: 'Erased',
  duplicated: 'Duplicated',
  selected: 'Selected',
  copied: 'Copied',
  pasted: 'Pasted',
  moved: 'Moved',
  resized: 'Resized',
  turned: 'Rotated',
  tipMoved: 'Moved the tip of',
  endMoved: 'Moved an end of',
};

const EVENT_TEXTS: Readonly<Record<StudioEvent, string>> = {
  undone: 'Undone',
  nothingToUndo: 'Nothing to undo',
  redone: 'Redone',
  nothingToRedo: 'Nothing to redo',
  givenUp: 'Cancelled',
  noneSelected: 'Nothing selected',
  pictureAdded: 'Picture added',
  notCropped: 'Nothing cropped',
  noRoom: 'The drawing is full. No more shapes can be added.',
  textWritten: 'Text saved',
  textGone: 'Empty text deleted',
  locked: 'Locked',
  unlocked: 'Unlocked',
  hidden: 'Hidden',
  shown: 'Shown',
};

const ORDER_TEXTS: Readonly<Record<Move, string>> = {
  front: 'Brought to front',
  back: 'Sent to back',
  forward: 'Brought forward',
  backward: 'Sent backward',
};
const STYLE_TEXTS: Readonly<Record<keyof DrawStyle, string>> = {
  color: 'Colour',
  strokeWidth: 'Line width',
  fill: 'Fill',
  fontSize: 'Text size',
};
const END_TEXTS: Readonly<Record<EndHandle, string>> = { start: 'the start', end: 'the end', tip: 'the tip' };

const formatPercent = (share: number): string => `${Math.round(share * 100)}%`;
const formatInteger = (...lengths: number[]): number[] => lengths.map(Math.round);

/** Default texts, in English. */
export const ENGLISH_TEXTS: StudioTexts = {
  surface: () =>
    'Drawing. Tab moves between shapes, arrow keys move the selection, G grabs an end, Enter presses and releases, Escape cancels. Press Escape, then Tab to leave.',
  surfaceKind: () => 'drawing surface',
  textField: DEFAULT_FIELD_LABEL,
  shape: getShapeName,
  shapes: formatShapeCount,
  tool: (tool) => `Tool: ${TOOL_NAMES[tool].name}${tool === 'crop' ? '. Enter applies, Escape cancels.' : ''}`,
  drawn: (kind) => `${getKindName(kind)} drawn`,
  corner: (number) => `Corner ${number}. Press it again to close the polygon.`,
  marker: (label) => `Marker ${label} added`,
  action: (action, shapes) => `${ACTION_TEXTS[action]} ${shapes}`,
  event: (event) => EVENT_TEXTS[event],
  ordered: (move) => ORDER_TEXTS[move],
  aligned: (edge) => `Aligned: ${edge}`,
  distributed: (axis) => (axis === 'x' ? 'Distributed horizontally' : 'Distributed vertically'),
  flipped: (axis) => (axis === 'x' ? 'Flipped horizontally' : 'Flipped vertically'),
  restyled: (property, shapes) => `${STYLE_TEXTS[property]} of ${shapes} changed`,
  turnedBy: (degrees) => `Rotated by ${degrees}°`,
  sheetTurned: (degrees) => `Drawing rotated by ${degrees}°`,
  at: (x, y) => `At ${formatInteger(x, y).join(', ')}`,
  size: (width, height) => formatInteger(width, height).join(' by '),
  frame: (x, y, width, height) => `From ${formatInteger(x, y).join(', ')}, ${formatInteger(width, height).join(' by ')}`,
  opacity: (share) => `Opacity ${formatPercent(share)}`,
  zoom: (share) => `Zoom ${formatPercent(share)}`,
  wholeSheet: (zoom) => `Whole drawing, zoom ${formatPercent(zoom)}`,
  cropped: (width, height) => `Cropped to ${width} by ${height}`,
  stackPosition: (name, position, count) => `${name}, ${position} of ${count}`,
  gripped: (end) => `Arrow keys move ${end ? END_TEXTS[end] : 'the whole shape'}`,
};
