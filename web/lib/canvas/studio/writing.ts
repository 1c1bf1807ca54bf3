import type { Shape } from '#shared/canvas/fields.ts';
import { frameOf } from '#shared/canvas/geometry.ts';
import { writeText } from '../write-text.ts';
import { measureText } from '../../../paint/measure.ts';
import type { View } from './view.ts';

export type Written = Shape<'text'> | Shape<'callout'>;

/** Inside a callout's box, as it is painted (marks.ts). */
const PADDING = 8;

interface Over {
  shape: Written;
  /** Label of the field. `byTouch`: Enter begins a new line. */
  label: (byTouch: boolean) => string;
  view: View;
  signal: AbortSignal;
  done: (text: string) => void;
}

/** Opens a field over a shape's text. Returns a function that moves the field to the shape's current position. */
export function writeOver(parent: HTMLElement, { shape, label, view, signal, done }: Over): () => void {
  const place = () => {
    const { x, y, width } = frameOf(shape, measureText);
    const inner = shape.kind === 'callout' ? PADDING : 0;
    const at = view.on({ x: x + inner, y: y + inner });
    return {
      left: `${at.x}px`,
      top: `${at.y}px`,
      size: shape.size * view.zoom,
      rotation: shape.rotation,
      ...(shape.kind === 'callout' ? { width: `${(width - 2 * PADDING) * view.zoom}px` } : {}),
    };
  };
  const put = writeText(parent, { ...place(), color: shape.color, text: shape.text, label, signal }, done);
  return () => put(place());
}
