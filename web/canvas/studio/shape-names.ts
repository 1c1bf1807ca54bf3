import type { Kind, Shape } from '#shared/canvas/shape-fields.ts';

const KIND_NAMES: Readonly<Record<Kind, string>> = {
  rect: 'Rectangle',
  ellipse: 'Ellipse',
  line: 'Line',
  arrow: 'Arrow',
  polygon: 'Polygon',
  star: 'Star',
  path: 'Path',
  pen: 'Pen stroke',
  highlighter: 'Highlighter stroke',
  text: 'Text',
  marker: 'Marker',
  callout: 'Callout',
  image: 'Picture',
  redaction: 'Redaction',
  blur: 'Blur',
};

/** The name of a kind of shape. */
export const getKindName = (kind: Kind): string => KIND_NAMES[kind];

/** Name of a shape that distinguishes it from others: with its number, or the start of its text. */
export function getShapeName(shape: Shape): string {
  const shapeText = shape.kind === 'marker' ? shape.label : shape.kind === 'text' || shape.kind === 'callout' ? shape.text : '';
  const text = shapeText.trim().replaceAll(/\s+/g, ' ');
  const short = text.length > 40 ? `${text.slice(0, 40)}…` : text;
  return short === '' ? KIND_NAMES[shape.kind] : `${KIND_NAMES[shape.kind]} ${short}`;
}

/** Formats a number of shapes. */
export const formatShapeCount = (count: number): string => (count === 1 ? '1 shape' : `${count} shapes`);
