import { PAINT_STYLE, type PaintStyle as PaintStyleFields } from '#shared/canvas/fields.ts';
import { cssColor } from './css-color.ts';

/** A `PaintStyle` as the documents spell it. */
interface Spelt {
  readonly color?: string;
  readonly stroke_width?: number;
  readonly fill?: boolean;
  readonly anti_alias?: boolean;
}

/** How a shape is painted. */
export class PaintStyle implements PaintStyleFields {
  /** Any colour of CSS; `#000000`. */
  readonly color: string;
  /** Width of the line in CSS pixels; 1 by default. */
  readonly strokeWidth: number;
  /** Whether it is filled with the colour, rather than outlined; true. */
  readonly fill: boolean;
  /** Whether its edges are smooth; true. */
  readonly antiAlias: boolean;

  /** Throws a TypeError for an invalid colour. */
  constructor(given: Partial<PaintStyleFields> & Spelt = {}) {
    this.color = cssColor(given.color ?? PAINT_STYLE.color);
    this.strokeWidth = given.strokeWidth ?? given.stroke_width ?? PAINT_STYLE.strokeWidth;
    this.fill = given.fill ?? PAINT_STYLE.fill;
    this.antiAlias = given.antiAlias ?? given.anti_alias ?? PAINT_STYLE.antiAlias;
  }
}

/** Paint of a shape: a CSS colour or a style. */
export type Paint = string | Partial<PaintStyleFields>;

export const styleOf = (paint: Paint): PaintStyle => new PaintStyle(typeof paint === 'string' ? { color: paint } : paint);
