import type { Shape } from '#shared/canvas/fields.ts';

/** Where a drawing is shown: what the classes know of it, whatever renders it. */
export interface Screen {
  /** What is pressed, and has the focus. */
  readonly surface: HTMLCanvasElement;
  /** Whether people can take hold of shapes. */
  selectable: boolean;
  /** Which shape has the handles. */
  readonly selected: string | undefined;
  /** What is being drawn: shown above all else, and no part of the drawing yet. */
  draft: Shape | undefined;
  dispose(): Promise<void>;
}
