import type { DrawingActions } from '#shared/canvas/drawing-actions.ts';
import type { Drawing } from '#shared/canvas/drawing.ts';
import type { Editor } from '#shared/canvas/editor.ts';
import type { Shape } from '#shared/canvas/shape-fields.ts';
import type { Box } from '#shared/canvas/geometry.ts';
import type { SelectionFrame } from '#shared/canvas/handles.ts';
import type { Guide } from '#shared/canvas/snap.ts';
import type { GestureModifiers, PointerSample } from '../pointer-gestures.ts';
import type { StudioViewport } from './studio-view-port.ts';
import type { StudioTexts } from './studio-texts.ts';

/** Look of the shapes drawn next. */
export interface DrawStyle {
  readonly color: string;
  /** CSS pixels. */
  readonly strokeWidth: number;
  readonly fill: boolean;
  /** Font size in CSS pixels. */
  readonly fontSize: number;
}

/** State that gestures show while they last. */
export interface GestureDisplay {
  draft: (() => Shape | undefined) | undefined;
  guides: readonly Guide[];
  band: Box | undefined;
}

/** The interface of the editor for tools. */
export interface ToolContext {
  readonly drawing: Drawing;
  readonly editor: Editor;
  readonly actions: DrawingActions;
  readonly view: StudioViewport;
  /** Look of the shapes drawn next, in CSS pixels of the drawing. */
  readonly drawStyle: DrawStyle;
  /** Zoom that lengths of the style are seen at: 1, or less if they look the same while the view is smaller. */
  readonly styleZoom: number;
  readonly texts: StudioTexts;
  readonly gestureDisplay: GestureDisplay;
  readonly selection: readonly string[];
  readonly selectedShapes: readonly Shape[];
  readonly selectionFrame: SelectionFrame | undefined;
  /** Crop frame of the sheet. */
  cropFrame: Box | undefined;
  select(ids: readonly string[]): void;
  announce(text: string): void;
  /** Schedules a repaint of the overlay. */
  requestRepaint(): void;
  /** Previews changed shapes; `undefined` ends the preview. */
  previewShapes(shapes: readonly Shape[] | undefined): void;
  /** Opens the note of a marker, if the page shows notes. */
  openNote(id: string): void;
  /** Opens a field for the text of a shape. */
  openTextField(shape: Shape): void;
}

/** A gesture that a press began. */
export interface Gesture {
  extend(samples: readonly PointerSample[], modifiers: GestureModifiers): void;
  end(): void;
  cancel(): void;
}

/** Begins the gesture of a tool on press. */
export type BeginGesture = (bench: ToolContext, at: PointerSample, modifiers: GestureModifiers) => Gesture;

/** Minimum movement of a drag in CSS pixels of the page; less is a press. */
export const MIN_DRAG_PX = 3;

/** Margin in which a pointer hits something, in CSS pixels of the drawing. */
export const getHitMargin = ({ view }: ToolContext, modifiers: GestureModifiers): number => (modifiers.touch ? 20 : 8) / view.zoom;
