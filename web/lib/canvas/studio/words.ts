import type { Edge } from '#shared/canvas/arrange.ts';
import type { Move } from '#shared/canvas/editor.ts';
import type { Shape } from '#shared/canvas/fields.ts';
import type { End } from '#shared/canvas/handles.ts';
import type { Axis } from '#shared/canvas/transform.ts';
import { writingLabel } from '../write-text.ts';
import type { Look } from './bench.ts';
import { counted, kindName, shapeName } from './speech.ts';
import { type StudioTool, TOOL_NAMES } from './tools.ts';

/** What was done with shapes, which are named or counted behind it. */
export type Doing =
  'removed' | 'erased' | 'duplicated' | 'selected' | 'copied' | 'pasted' | 'moved' | 'resized' | 'turned' | 'tipMoved' | 'endMoved';

/** What happened, with nothing to name. */
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

/** What the studio says, in the page's language. Lengths are CSS pixels of the drawing; shares are 0 to 1, or more for zoom. */
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
  /** Which of all shapes was come to. */
  place(name: string, at: number, of: number): string;
  /** What arrow keys move from now on; undefined is all of the shape. */
  gripped(end: End | undefined): string;
}

const DID: Readonly<Record<Doing, string>> = {
  removed: 'Removed',
  erased: 'Erased',
  duplicated: 'Duplicated',
  selected: 'Selected',
  copied: 'Copied',
  pasted: 'Pasted',
  moved: 'Moved',
  resized: 'Resized',
  turned: 'Turned',
  tipMoved: 'Moved the tip of',
  endMoved: 'Moved an end of',
};

const HAPPENED: Readonly<Record<Happening, string>> = {
  undone: 'Taken back',
  nothingToUndo: 'Nothing to take back',
  redone: 'Done again',
  nothingToRedo: 'Nothing to do again',
  givenUp: 'Given up',
  noneSelected: 'Nothing selected',
  pictureAdded: 'Picture added',
  notCropped: 'Nothing was cropped',
  noRoom: 'There is no room for more shapes',
  textWritten: 'Text written',
  textGone: 'Removed: it had no text any more',
  locked: 'Locked',
  unlocked: 'Unlocked',
  hidden: 'Hidden',
  shown: 'Shown',
};

const ORDERED: Readonly<Record<Move, string>> = {
  front: 'Brought to the front',
  back: 'Sent to the back',
  forward: 'Brought forward',
  backward: 'Sent backward',
};
const LOOKS: Readonly<Record<keyof Look, string>> = { color: 'Colour', strokeWidth: 'Line width', fill: 'Filling', fontSize: 'Text size' };
const ENDS: Readonly<Record<End, string>> = { start: 'its beginning', end: 'its end', tip: 'its tip' };

const percent = (share: number): string => `${Math.round(share * 100)}%`;
const whole = (...lengths: number[]): number[] => lengths.map(Math.round);

/** Where nobody says it otherwise. */
export const ENGLISH: StudioWords = {
  surface: () =>
    'Drawing. Tab goes from shape to shape, arrow keys move, G takes hold of an end, Enter presses and lets go, Escape gives up; Escape and then Tab leaves.',
  surfaceKind: () => 'drawing surface',
  writing: writingLabel,
  shape: shapeName,
  shapes: counted,
  tool: (tool) => `Tool: ${TOOL_NAMES[tool].name}${tool === 'crop' ? '. Enter applies, Escape gives up.' : ''}`,
  drawn: (kind) => `${kindName(kind)} drawn`,
  corner: (number) => `Corner ${number}. Press it again to close the polygon.`,
  marker: (label) => `Marker ${label} set`,
  did: (doing, what) => `${DID[doing]} ${what}`,
  happened: (what) => HAPPENED[what],
  ordered: (move) => ORDERED[move],
  aligned: (edge) => `Aligned: ${edge}`,
  distributed: (axis) => (axis === 'x' ? 'Spaced evenly across' : 'Spaced evenly down'),
  flipped: (axis) => (axis === 'x' ? 'Flipped left to right' : 'Flipped upside down'),
  restyled: (look, what) => `${LOOKS[look]} of ${what} changed`,
  turnedBy: (degrees) => `Turned by ${degrees}°`,
  sheetTurned: (degrees) => `Turned the sheet by ${degrees}°`,
  at: (x, y) => `At ${whole(x, y).join(', ')}`,
  size: (width, height) => whole(width, height).join(' by '),
  frame: (x, y, width, height) => `From ${whole(x, y).join(', ')}, ${whole(width, height).join(' by ')}`,
  opacity: (share) => `Opacity ${percent(share)}`,
  zoom: (share) => `Zoom ${percent(share)}`,
  wholeSheet: (zoom) => `Whole sheet, zoom ${percent(zoom)}`,
  cropped: (width, height) => `Cropped to ${width} by ${height}`,
  place: (name, at, of) => `${name}, ${at} of ${of}`,
  gripped: (end) => `Arrow keys move ${end ? ENDS[end] : 'all of it'}`,
};
