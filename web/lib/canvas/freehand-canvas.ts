import { DrawnCanvas } from './drawn-canvas.ts';
import { optionsOf, type Spelt } from './spelt.ts';

export interface FreehandOptions {
  /** CSS pixels; 640. */
  readonly width: number;
  /** CSS pixels; 480. */
  readonly height: number;
  /** Any colour of CSS; `#000000`. */
  readonly strokeColor?: string;
  /** CSS pixels at a middling pressure; 3. */
  readonly strokeWidth?: number;
}

/**
 * A canvas to draw on by hand (interface document 2, section 4.3). Lines are as wide as a pen is pressed: half at no pressure, half as
 * much again at full.
 */
export class FreehandCanvas extends DrawnCanvas {
  /** `width`, `height`, `strokeColor`, `strokeWidth`, or an object of them. Throws a TypeError for a colour that is none. */
  constructor(width: number, height: number, strokeColor?: string, strokeWidth?: number);
  constructor(options: Spelt<FreehandOptions>);
  constructor(...given: readonly unknown[]) {
    const {
      width = 640,
      height = 480,
      strokeColor = '#000000',
      strokeWidth = 3,
    } = optionsOf<FreehandOptions>(['width', 'height', 'strokeColor', 'strokeWidth'], given);
    super({ width, height }, { color: strokeColor, width: strokeWidth });
  }

  /** Chooses what is drawn with next: a colour of CSS, and a width in CSS pixels (0.1 to 1000). */
  setStroke(color: string, width: number): void {
    this.strokeColor = color;
    this.strokeWidth = width;
  }
}
