import type { Actions } from '#shared/canvas/actions.ts';
import type { Drawing } from '#shared/canvas/drawing.ts';
import type { Editor } from '#shared/canvas/editor.ts';
import type { Shape } from '#shared/canvas/fields.ts';
import type { Box } from '#shared/canvas/geometry.ts';
import type { Hold } from '#shared/canvas/handles.ts';
import type { Guide } from '#shared/canvas/snap.ts';
import type { Held, Sample } from '../pointing.ts';
import type { View } from './view.ts';
import type { StudioWords } from './words.ts';

/** Look of the shapes drawn next. */
export interface Look {
  readonly color: string;
  /** CSS pixels. */
  readonly strokeWidth: number;
  readonly fill: boolean;
  /** How high letters are, in CSS pixels. */
  readonly fontSize: number;
}

/** State that gestures show while they last. */
export interface Showing {
  draft: (() => Shape | undefined) | undefined;
  guides: readonly Guide[];
  band: Box | undefined;
}

/** The editor as tools see it. */
export interface Bench {
  readonly drawing: Drawing;
  readonly editor: Editor;
  readonly actions: Actions;
  readonly view: View;
  readonly look: Look;
  readonly words: StudioWords;
  readonly showing: Showing;
  readonly selection: readonly string[];
  readonly chosen: readonly Shape[];
  readonly hold: Hold | undefined;
  /** Crop frame of the sheet. */
  cropping: Box | undefined;
  select(ids: readonly string[]): void;
  say(text: string): void;
  /** Schedules a repaint of the overlay. */
  request(): void;
  /** Shows shapes otherwise than they are; `undefined` as they are. */
  preview(shapes: readonly Shape[] | undefined): void;
  /** Opens a field for the text of a shape. */
  write(shape: Shape): void;
}

/** Something that was begun with a press. */
export interface Gesture {
  extend(samples: readonly Sample[], held: Held): void;
  end(): void;
  cancel(): void;
}

/** Begins the gesture of a tool on press. */
export type Begin = (bench: Bench, at: Sample, held: Held) => Gesture;

/** Less than this many CSS pixels of the page is a press, no drag. */
export const DRAG = 3;

/** How near is near enough, in CSS pixels of the drawing. */
export const reachOf = ({ view }: Bench, held: Held): number => (held.touch ? 20 : 8) / view.zoom;
