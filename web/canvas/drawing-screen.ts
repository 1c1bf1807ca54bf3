import type { Shape } from '#shared/canvas/shape-fields.ts';

/** The screen that shows a drawing, independent of its renderer. */
export interface DrawingScreen {
  /** Element that receives pointers and focus. */
  readonly surface: HTMLCanvasElement;
  /** Whether shapes can be selected. */
  selectable: boolean;
  /** Id of the shape that has the handles. */
  readonly selected: string | undefined;
  /** Shape being drawn: shown above all others and not yet part of the drawing. */
  draft: Shape | undefined;
  dispose(): Promise<void>;
}
