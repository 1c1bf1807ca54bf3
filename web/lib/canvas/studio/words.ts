import type { Edge } from '#shared/canvas/arrange.ts';
import type { Move } from '#shared/canvas/editor.ts';
import type { Shape } from '#shared/canvas/fields.ts';
import type { End } from '#shared/canvas/handles.ts';
import type { Axis } from '#shared/canvas/transform.ts';
import { writingLabel } from '../write-text.ts';
import type { Look } from './bench.ts';
import { counted, kindName, shapeName } from './speech.ts';
import { type StudioTool, TOOL_NAMES } from './tools.ts';

/** Announced actions on shapes; the names or number of the shapes follow. */
export type Doing =
  'removed' | 'erased' | 'duplicated' | 'selected' | 'copied' | 'pasted' | 'moved' | 'resized' | 'turned' | 'tipMoved' | 'endMoved';

/** Announced events without shapes. */
export type Happening =
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
export interface StudioWords {
  /** The drawing, and which keys it takes. */
  surface(): string;
  surfaceKind(): string;
  /** The field over a text. */
  writing(byTouch: boolean): string;
  /** The name of a shape. */
  shape(shape: Shape): string;
  shapes(count: number): string;
  tool(tool: StudioTool): string;
  drawn(kind: Shape['kind']): string;
  corner(number: number): string;
  marker(label: string): string;
  did(doing: Doing, what: string): string;
  happened(what: Happening): string;
  ordered(move: Move): string;
  aligned(edge: Edge): string;
  distributed(axis: Axis): string;
  flipped(axis: Axis): string;
  restyled(look: keyof Look, what: string): string;
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
  place(name: string, at: number, of: number): string;
  /** The end that arrow keys now move; undefined for the whole shape. */
  gripped(end: End | undefined): string;
}

const DID: Readonly<Record<Doing, string>> = {
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

const HAPPENED: Readonly<Record<Happening, string>> = {
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

const ORDERED: Readonly<Record<Move, string>> = {
  front: 'Brought to front',
  back: 'Sent to back',
  forward: 'Brought forward',
  backward: 'Sent backward',
};
const LOOKS: Readonly<Record<keyof Look, string>> = { color: 'Colour', strokeWidth: 'Line width', fill: 'Fill', fontSize: 'Text size' };
const ENDS: Readonly<Record<End, string>> = { start: 'the start', end: 'the end', tip: 'the tip' };

const percent = (share: number): string => `${Math.round(share * 100)}%`;
const whole = (...lengths: number[]): number[] => lengths.map(Math.round);

/** Default texts, in English. */
export const ENGLISH: StudioWords = {
  surface: () =>
    'Drawing. Tab moves between shapes, arrow keys move the selection, G grabs an end, Enter presses and releases, Escape cancels. Press Escape, then Tab to leave.',
  surfaceKind: () => 'drawing surface',
  writing: writingLabel,
  shape: shapeName,
  shapes: counted,
  tool: (tool) => `Tool: ${TOOL_NAMES[tool].name}${tool === 'crop' ? '. Enter applies, Escape cancels.' : ''}`,
  drawn: (kind) => `${kindName(kind)} drawn`,
  corner: (number) => `Corner ${number}. Press it again to close the polygon.`,
  marker: (label) => `Marker ${label} added`,
  did: (doing, what) => `${DID[doing]} ${what}`,
  happened: (what) => HAPPENED[what],
  ordered: (move) => ORDERED[move],
  aligned: (edge) => `Aligned: ${edge}`,
  distributed: (axis) => (axis === 'x' ? 'Distributed horizontally' : 'Distributed vertically'),
  flipped: (axis) => (axis === 'x' ? 'Flipped horizontally' : 'Flipped vertically'),
  restyled: (look, what) => `${LOOKS[look]} of ${what} changed`,
  turnedBy: (degrees) => `Rotated by ${degrees}°`,
  sheetTurned: (degrees) => `Drawing rotated by ${degrees}°`,
  at: (x, y) => `At ${whole(x, y).join(', ')}`,
  size: (width, height) => whole(width, height).join(' by '),
  frame: (x, y, width, height) => `From ${whole(x, y).join(', ')}, ${whole(width, height).join(' by ')}`,
  opacity: (share) => `Opacity ${percent(share)}`,
  zoom: (share) => `Zoom ${percent(share)}`,
  wholeSheet: (zoom) => `Whole drawing, zoom ${percent(zoom)}`,
  cropped: (width, height) => `Cropped to ${width} by ${height}`,
  place: (name, at, of) => `${name}, ${at} of ${of}`,
  gripped: (end) => `Arrow keys move ${end ? ENDS[end] : 'the whole shape'}`,
};
