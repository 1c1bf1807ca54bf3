import { InteractiveCanvas } from './interactive-canvas.ts';
import { toOptions, type AnySpelling } from './spelling-options.ts';

export interface FreehandOptions {
  /** CSS pixels; 640. */
  readonly width: number;
  /** CSS pixels; 480. */
  readonly height: number;
  /** Any colour of CSS; `#000000`. */
  readonly strokeColor?: string;
  /** CSS pixels at medium pressure; 3. */
  readonly strokeWidth?: number;
}

/** A canvas to draw on by hand. Line width follows pen pressure: half the width at no pressure, one and a half times at full. */
export class FreehandCanvas extends InteractiveCanvas {
  /** `width`, `height`, `strokeColor`, `strokeWidth`, or an object of them. Throws a TypeError for an invalid colour. */
  constructor(width: number, height: number, strokeColor?: string, strokeWidth?: number);
  constructor(options: AnySpelling<FreehandOptions>);
  constructor(...args: readonly unknown[]) {
    const {
      width = 640,
      height = 480,
      strokeColor = '#000000',
      strokeWidth = 3,
    } = toOptions<FreehandOptions>(['width', 'height', 'strokeColor', 'strokeWidth'], args);
    super({ width, height }, { color: strokeColor, width: strokeWidth });
  }

  /** Sets the stroke of the next lines: a CSS colour and a width in CSS pixels (0.1 to 1000). */
  setStroke(color: string, width: number): void {
    this.strokeColor = color;
    this.strokeWidth = width;
  }
}
