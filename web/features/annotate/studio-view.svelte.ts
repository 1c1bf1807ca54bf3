import type { Shape } from '#shared/canvas/shape-fields.ts';
import type { Studio, StudioTool } from '#canvas/studio.ts';

/** Reactive state of a studio, for components. */
export class StudioView {
  readonly studio: Studio;
  tool = $state<StudioTool>('select');
  color = $state('');
  strokeWidth = $state(0);
  fill = $state(false);
  fontSize = $state(0);
  isStraight = $state(false);
  hasSnapping = $state(true);
  zoom = $state(1);
  /** Counts changes of the state, among them those of the visible part. */
  revision = $state(0);
  canUndo = $state(false);
  canRedo = $state(false);
  selection = $state.raw<readonly string[]>([]);
  /** Shapes of the drawing, lowest first. */
  shapes = $state.raw<readonly Shape[]>([]);

  readonly selected: readonly Shape[] = $derived.by(() => {
    const ids = new Set(this.selection);
    return ids.size === 0 ? [] : this.shapes.filter(({ id }) => ids.has(id));
  });

  constructor(studio: Studio) {
    this.studio = studio;
    this.#read();
    this.shapes = studio.drawing.shapes;
  }

  /** Converts a length of a shape to that of the style: what it looks like while the view is smaller than the drawing. */
  toStyleLength(length: number): number {
    const zoom = this.studio.isZoomAware ? Math.min(1, this.zoom) : 1;
    return Math.round(length * zoom * 10) / 10;
  }

  /** Follows the studio; shapes are read once per frame. Returns a function that stops it. */
  watch(): () => void {
    let frame = 0;
    const scheduleRead = (): void => {
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        this.shapes = this.studio.drawing.shapes;
        this.#read();
      });
    };
    const stops = [this.studio.onStateChange(() => this.#read()), this.studio.drawing.onChange(scheduleRead)];
    return () => {
      cancelAnimationFrame(frame);
      for (const stop of stops) stop();
    };
  }

  #read(): void {
    const { tool, color, strokeWidth, fill, fontSize, isStraight, isSnapping, zoom, selection, editor } = this.studio;
    Object.assign(this, {
      tool,
      color,
      strokeWidth,
      fill,
      fontSize,
      isStraight,
      hasSnapping: isSnapping,
      zoom,
      selection,
    } satisfies Partial<StudioView>);
    this.revision++;
    this.canUndo = editor.canUndo;
    this.canRedo = editor.canRedo;
  }
}
