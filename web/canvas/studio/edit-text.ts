import type { Shape } from '#shared/canvas/shape-fields.ts';
import { getFrame } from '#shared/canvas/geometry.ts';
import { openTextField } from '../text-field.ts';
import { measureText } from '../../paint/measure-text.ts';
import type { StudioViewport } from './studio-view-port.ts';

export type EditableShape = Shape<'text'> | Shape<'callout'>;

/** Padding of a callout's box, as painted (marks.ts). */
const CALLOUT_PADDING = 8;

interface EditTextOptions {
  shape: EditableShape;
  /** Label of the field. `byTouch`: Enter begins a new line. */
  label: (byTouch: boolean) => string;
  view: StudioViewport;
  signal: AbortSignal;
  onDone: (text: string) => void;
}

/** Opens a field over a shape's text. Returns a function that moves the field to the shape's current position. */
export function editShapeText(parent: HTMLElement, { shape, label, view, signal, onDone }: EditTextOptions): () => void {
  const getPosition = () => {
    const { x, y, width } = getFrame(shape, measureText);
    const inner = shape.kind === 'callout' ? CALLOUT_PADDING : 0;
    const at = view.toElementPoint({ x: x + inner, y: y + inner });
    return {
      left: `${at.x}px`,
      top: `${at.y}px`,
      size: shape.size * view.zoom,
      rotation: shape.rotation,
      ...(shape.kind === 'callout' ? { width: `${(width - 2 * CALLOUT_PADDING) * view.zoom}px` } : {}),
    };
  };
  const moveField = openTextField(parent, { ...getPosition(), color: shape.color, text: shape.text, label, signal }, onDone);
  return () => moveField(getPosition());
}
