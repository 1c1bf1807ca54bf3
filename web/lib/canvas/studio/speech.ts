import type { Kind, Shape } from '#shared/canvas/fields.ts';

const KINDS: Readonly<Record<Kind, string>> = {
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
export const kindName = (kind: Kind): string => KINDS[kind];

/** A name that tells a shape from others: with its number, or the beginning of its text. */
export function shapeName(shape: Shape): string {
  const own = shape.kind === 'marker' ? shape.label : shape.kind === 'text' || shape.kind === 'callout' ? shape.text : '';
  const begin = own.trim().replaceAll(/\s+/g, ' ');
  const short = begin.length > 40 ? `${begin.slice(0, 40)}…` : begin;
  return short === '' ? KINDS[shape.kind] : `${KINDS[shape.kind]} ${short}`;
}

/** So many shapes, in words. */
export const counted = (count: number): string => (count === 1 ? '1 shape' : `${count} shapes`);
