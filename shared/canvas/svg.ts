import { type Picture, pixelsBelow, shownOf, uncovered } from './cover.ts';
import type { Shape } from './fields.ts';
import { frameOf, rotationOf } from './geometry.ts';
import { baselineOf, estimateWidth, FONT_FAMILY, isRightToLeft, LINE_HEIGHT, type Mark, marksOf, type Measure } from './marks.ts';
import type { PathElement } from './path.ts';

export interface SvgOptions {
  readonly measure?: Measure;
  /** The sheet with all that must be pixels (`pixelsBelow`), as a PNG's data URL. */
  readonly pixels?: string;
}

/**
 * Exports the drawing as a standalone SVG of the sheet's size. It contains nothing that a redaction or a blur hides: with `pixels` they are
 * part of those; without, shapes that they touch are omitted completely, and so are pictures that the sheet cuts off.
 */
export function drawingToSvg(picture: Picture, { measure = estimateWidth, pixels }: SvgOptions = {}): string {
  const { x, y, width, height, background } = picture.page;
  const shown = shownOf(picture, measure);
  const vectors = pixels === undefined ? uncovered(picture.page, shown) : shown.slice(pixelsBelow(picture.page, shown));
  const sheet = `x="${x}" y="${y}" width="${width}" height="${height}"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="${x} ${y} ${width} ${height}">`,
    ...(background === null || pixels !== undefined ? [] : [`<rect ${sheet}${paint('fill', background)}/>`]),
    ...(pixels === undefined ? [] : [`<image ${sheet} preserveAspectRatio="none" href="${escaped(pixels)}"/>`]),
    ...vectors.map((shape) => group(shape, measure)),
    '</svg>',
  ].join('\n');
}

function group(shape: Shape, measure: Measure): string {
  const frame = frameOf(shape, measure);
  const degrees = rotationOf(shape);
  const turn =
    degrees === 0
      ? ''
      : ` transform="rotate(${rounded(degrees)} ${rounded(frame.x + frame.width / 2)} ${rounded(frame.y + frame.height / 2)})"`;
  const opacity = 'opacity' in shape && shape.opacity < 1 ? ` opacity="${rounded(shape.opacity)}"` : '';
  const crisp = 'antiAlias' in shape && !shape.antiAlias ? ' shape-rendering="crispEdges"' : '';
  const marks = marksOf(shape, measure);
  const blend = marks.some((mark) => mark.type === 'path' && mark.multiply) ? ' style="mix-blend-mode:multiply"' : '';
  const note = shape.kind === 'marker' && shape.note !== '' ? `<title>${escaped(shape.note)}</title>` : '';
  return `<g${turn}${opacity}${crisp}${blend}>${note}${marks.map(markup).join('')}</g>`;
}

function markup(mark: Mark): string {
  switch (mark.type) {
    case 'path': {
      const stroke =
        mark.strokeWidth > 0
          ? `${paint('stroke', mark.color)} stroke-width="${rounded(mark.strokeWidth)}" stroke-linecap="round" stroke-linejoin="round"`
          : '';
      return `<path d="${mark.elements.map(step).join('')}"${mark.fill ? paint('fill', mark.color) : ' fill="none"'}${stroke}/>`;
    }
    case 'text': {
      const look = `font-family="${escaped(FONT_FAMILY)}" font-size="${rounded(mark.size)}"${paint('fill', mark.color)} xml:space="preserve"`;
      return mark.lines.map((line, nth) => `<text ${look}${placed(mark, line, nth)}>${escaped(line)}</text>`).join('');
    }
    case 'image':
      return `<image ${boxed(mark)}${mark.mirrored ? ` transform="matrix(-1 0 0 1 ${rounded(2 * mark.x + mark.width)} 0)"` : ''} preserveAspectRatio="none" href="${escaped(mark.src)}"/>`;
    case 'solid':
      return `<rect ${boxed(mark)}${paint('fill', mark.color)}/>`;
    case 'blur':
      // SVG cannot blur what lies below: without pixels it covers.
      return `<rect ${boxed(mark)} fill="#808080"/>`;
  }
}

function placed(mark: Extract<Mark, { type: 'text' }>, line: string, nth: number): string {
  const backwards = isRightToLeft(line);
  const anchor = mark.centered ? 'middle' : backwards ? 'end' : 'start';
  const y = baselineOf(mark.y + nth * mark.size * LINE_HEIGHT, mark.size);
  return ` x="${rounded(mark.x)}" y="${rounded(y)}" text-anchor="${anchor}"${backwards ? ' direction="rtl"' : ''}`;
}

function step(element: PathElement): string {
  switch (element.type) {
    case 'move':
      return `M${rounded(element.x)} ${rounded(element.y)}`;
    case 'line':
      return `L${rounded(element.x)} ${rounded(element.y)}`;
    case 'quadratic':
      return `Q${[element.x1, element.y1, element.x, element.y].map(rounded).join(' ')}`;
    case 'cubic':
      return `C${[element.x1, element.y1, element.x2, element.y2, element.x, element.y].map(rounded).join(' ')}`;
    case 'close':
      return 'Z';
  }
}

const boxed = ({ x, y, width, height }: { x: number; y: number; width: number; height: number }): string =>
  `x="${rounded(x)}" y="${rounded(y)}" width="${rounded(width)}" height="${rounded(height)}"`;

/** A colour for SVG 1.1, which has no alpha in colours. */
function paint(what: 'fill' | 'stroke', color: string): string {
  const digits = color.slice(1);
  const full = digits.length <= 4 ? [...digits].map((digit) => digit + digit).join('') : digits;
  const alpha = full.length === 8 ? ` ${what}-opacity="${rounded(parseInt(full.slice(6), 16) / 255)}"` : '';
  return ` ${what}="#${full.slice(0, 6)}"${alpha}`;
}

const rounded = (value: number): string => String(Math.round(value * 1000) / 1000);

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Text for XML, without the characters that it may not have. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '')
    .replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
