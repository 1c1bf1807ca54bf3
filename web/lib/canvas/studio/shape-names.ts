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

/** A name that tells a shape from others: with its number, or the beginning of its text. */
export function getShapeName(shape: Shape): string {
  const own = shape.kind === 'marker' ? shape.label : shape.kind === 'text' || shape.kind === 'callout' ? shape.text : '';
  const begin = own.trim().replaceAll(/\s+/g, ' ');
  const short = begin.length > 40 ? `${begin.slice(0, 40)}…` : begin;
  return short === '' ? KIND_NAMES[shape.kind] : `${KIND_NAMES[shape.kind]} ${short}`;
}

/** So many shapes, in words. */
export const formatShapeCount = (count: number): string => (count === 1 ? '1 shape' : `${count} shapes`);
