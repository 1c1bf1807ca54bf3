import type { Kind, Shape } from '#shared/canvas/shape-fields.ts';
import { m } from '#app/i18n/messages.ts';

const KIND_LABELS: Readonly<Record<Kind, () => string>> = {
  rect: () => m.annotate_shape_rect(),
  ellipse: () => m.annotate_shape_ellipse(),
  line: () => m.annotate_shape_line(),
  arrow: () => m.annotate_shape_arrow(),
  polygon: () => m.annotate_shape_polygon(),
  star: () => m.annotate_shape_star(),
  path: () => m.annotate_shape_path(),
  pen: () => m.annotate_shape_pen(),
  highlighter: () => m.annotate_shape_highlighter(),
  text: () => m.annotate_shape_text(),
  marker: () => m.annotate_shape_marker(),
  callout: () => m.annotate_shape_callout(),
  image: () => m.annotate_shape_image(),
  redaction: () => m.annotate_shape_redaction(),
  blur: () => m.annotate_shape_blur(),
};

export const getKindLabel = (kind: Kind): string => KIND_LABELS[kind]();

/** Name of a shape that distinguishes it from others: with its number, or the start of its text. */
export function getShapeLabel(shape: Shape): string {
  const shapeText = shape.kind === 'marker' ? shape.label : shape.kind === 'text' || shape.kind === 'callout' ? shape.text : '';
  const name = shapeText.trim().replaceAll(/\s+/g, ' ');
  const kind = getKindLabel(shape.kind);
  return name === '' ? kind : m.annotate_shape_named({ kind, name: name.length > 40 ? `${name.slice(0, 40)}…` : name });
}
