import { DEFAULT_PAINT_STYLE, type PaintStyle as PaintStyleFields } from '#shared/canvas/shape-fields.ts';
import { normalizeCssColor } from './css-color.ts';

/** Fields of a `PaintStyle` in snake case. */
interface SnakeCasePaintStyle {
  readonly color?: string;
  readonly stroke_width?: number;
  readonly fill?: boolean;
  readonly anti_alias?: boolean;
}

/** Colour, line width and fill of a shape. */
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
  constructor(values: Partial<PaintStyleFields> & SnakeCasePaintStyle = {}) {
    this.color = normalizeCssColor(values.color ?? DEFAULT_PAINT_STYLE.color);
    this.strokeWidth = values.strokeWidth ?? values.stroke_width ?? DEFAULT_PAINT_STYLE.strokeWidth;
    this.fill = values.fill ?? DEFAULT_PAINT_STYLE.fill;
    this.antiAlias = values.antiAlias ?? values.anti_alias ?? DEFAULT_PAINT_STYLE.antiAlias;
  }
}

/** Paint of a shape: a CSS colour or a style. */
export type Paint = string | Partial<PaintStyleFields>;

export const toPaintStyle = (paint: Paint): PaintStyle => new PaintStyle(typeof paint === 'string' ? { color: paint } : paint);
