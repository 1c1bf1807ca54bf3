import { type DrawingContent, countRasterShapes, getVisibleShapes, getUncoveredShapes } from './visible-shapes.ts';
import type { Shape } from './shape-fields.ts';
import { getFrame, getRotation } from './geometry.ts';
import { getBaseline, estimateWidth, FONT_FAMILY, isRightToLeft, LINE_HEIGHT, type Mark, getMarks, type MeasureText } from './marks.ts';
import type { PathElement } from './path.ts';

interface SvgOptions {
  readonly measure?: MeasureText;
  /** The page with everything that must be rasterized (`countRasterShapes`), as a PNG's data URL. */
  readonly pixels?: string;
}

/**
 * Exports the drawing as a standalone SVG of the page's size. It contains nothing that a redaction or a blur hides: with `pixels` they are
 * part of those; without, shapes that they touch are omitted completely, and so are pictures that the page cuts off.
 */
export function drawingToSvg(picture: DrawingContent, { measure = estimateWidth, pixels }: SvgOptions = {}): string {
  const { x, y, width, height, background } = picture.page;
  const visibleShapes = getVisibleShapes(picture, measure);
  const vectors =
    pixels === undefined
      ? getUncoveredShapes(picture.page, visibleShapes)
      : visibleShapes.slice(countRasterShapes(picture.page, visibleShapes));
  const pageArea = `x="${x}" y="${y}" width="${width}" height="${height}"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="${x} ${y} ${width} ${height}">`,
    ...(background === null || pixels !== undefined ? [] : [`<rect ${pageArea}${renderPaint('fill', background)}/>`]),
    ...(pixels === undefined ? [] : [`<image ${pageArea} preserveAspectRatio="none" href="${escapeXml(pixels)}"/>`]),
    ...vectors.map((shape) => renderGroup(shape, measure)),
    '</svg>',
  ].join('\n');
}

function renderGroup(shape: Shape, measure: MeasureText): string {
  const frame = getFrame(shape, measure);
  const degrees = getRotation(shape);
  const turn =
    degrees === 0
      ? ''
      : ` transform="rotate(${formatNumber(degrees)} ${formatNumber(frame.x + frame.width / 2)} ${formatNumber(frame.y + frame.height / 2)})"`;
  const opacity = 'opacity' in shape && shape.opacity < 1 ? ` opacity="${formatNumber(shape.opacity)}"` : '';
  const crisp = 'antiAlias' in shape && !shape.antiAlias ? ' shape-rendering="crispEdges"' : '';
  const marks = getMarks(shape, measure);
  const blend = marks.some((mark) => mark.type === 'path' && mark.multiply) ? ' style="mix-blend-mode:multiply"' : '';
  const note = shape.kind === 'marker' && shape.note !== '' ? `<title>${escapeXml(shape.note)}</title>` : '';
  return `<g${turn}${opacity}${crisp}${blend}>${note}${marks.map(renderMark).join('')}</g>`;
}

function renderMark(mark: Mark): string {
  switch (mark.type) {
    case 'path': {
      const stroke =
        mark.strokeWidth > 0
          ? `${renderPaint('stroke', mark.color)} stroke-width="${formatNumber(mark.strokeWidth)}" stroke-linecap="round" stroke-linejoin="round"`
          : '';
      return `<path d="${mark.elements.map(renderPathElement).join('')}"${mark.fill ? renderPaint('fill', mark.color) : ' fill="none"'}${stroke}/>`;
    }
    case 'text': {
      const textAttributes = `font-family="${escapeXml(FONT_FAMILY)}" font-size="${formatNumber(mark.size)}"${renderPaint('fill', mark.color)} xml:space="preserve"`;
      return mark.lines
        .map((line, nth) => `<text ${textAttributes}${renderTextPosition(mark, line, nth)}>${escapeXml(line)}</text>`)
        .join('');
    }
    case 'image':
      return `<image ${renderBox(mark)}${mark.mirrored ? ` transform="matrix(-1 0 0 1 ${formatNumber(2 * mark.x + mark.width)} 0)"` : ''} preserveAspectRatio="none" href="${escapeXml(mark.src)}"/>`;
    case 'solid':
      return `<rect ${renderBox(mark)}${renderPaint('fill', mark.color)}/>`;
    case 'blur':
      // SVG can't blur the content below a shape, so without pixels the shape covers it.
      return `<rect ${renderBox(mark)} fill="#808080"/>`;
  }
}

function renderTextPosition(mark: Extract<Mark, { type: 'text' }>, line: string, nth: number): string {
  const backwards = isRightToLeft(line);
  const anchor = mark.centered ? 'middle' : backwards ? 'end' : 'start';
  const y = getBaseline(mark.y + nth * mark.size * LINE_HEIGHT, mark.size);
  return ` x="${formatNumber(mark.x)}" y="${formatNumber(y)}" text-anchor="${anchor}"${backwards ? ' direction="rtl"' : ''}`;
}

function renderPathElement(element: PathElement): string {
  switch (element.type) {
    case 'move':
      return `M${formatNumber(element.x)} ${formatNumber(element.y)}`;
    case 'line':
      return `L${formatNumber(element.x)} ${formatNumber(element.y)}`;
    case 'quadratic':
      return `Q${[element.x1, element.y1, element.x, element.y].map(formatNumber).join(' ')}`;
    case 'cubic':
      return `C${[element.x1, element.y1, element.x2, element.y2, element.x, element.y].map(formatNumber).join(' ')}`;
    case 'close':
      return 'Z';
  }
}

const renderBox = ({ x, y, width, height }: { x: number; y: number; width: number; height: number }): string =>
  `x="${formatNumber(x)}" y="${formatNumber(y)}" width="${formatNumber(width)}" height="${formatNumber(height)}"`;

/** A colour for SVG 1.1, which has no alpha in colours. */
function renderPaint(property: 'fill' | 'stroke', color: string): string {
  const digits = color.slice(1);
  const full = digits.length <= 4 ? [...digits].map((digit) => digit + digit).join('') : digits;
  const alpha = full.length === 8 ? ` ${property}-opacity="${formatNumber(parseInt(full.slice(6), 16) / 255)}"` : '';
  return ` ${property}="#${full.slice(0, 6)}"${alpha}`;
}

const formatNumber = (value: number): string => String(Math.round(value * 1000) / 1000);

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes text for XML and removes characters that XML forbids. */
function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '')
    .replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
