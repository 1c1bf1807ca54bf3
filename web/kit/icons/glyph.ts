/** Colour, size and label of an icon. */
export interface IconOptions {
  /** Any CSS colour. Default: `currentColor`, the colour of the text around it. */
  color?: string | undefined;
  /** Height in CSS pixels; glyphs that are wider than high keep their shape. Default: 16. */
  size?: number | undefined;
  /** Label for screen readers. Without it the icon is hidden from them, as next to a text that says the same. */
  label?: string | undefined;
}

/** Look of an icon: options by name, or a colour and a size. */
export type IconLook = [options?: IconOptions | undefined] | [color: string | undefined, size?: number | undefined];

/** Converts either form to options by name. */
export function toIconOptions([first, size]: IconLook): IconOptions {
  return typeof first === 'object' ? first : { color: first, size };
}

type Attributes = Readonly<Record<string, string | number | undefined>>;

/** A drawing without size and colour. */
export interface Glyph {
  width: number;
  height: number;
  /** Stroke width of outlined shapes; undefined for filled shapes. */
  lines?: number;
  parts: readonly (readonly [tag: string, attributes: Attributes])[];
}

const NAMESPACE = 'http://www.w3.org/2000/svg';
const DEFAULT_SIZE = 16;

function toAttributes({ width, height, lines }: Glyph, { color = 'currentColor', size = DEFAULT_SIZE, label }: IconOptions): Attributes {
  if (!Number.isFinite(size) || size <= 0) throw new RangeError(`The size of an icon must be a positive number of pixels, not ${size}.`);
  const stroke = { fill: 'none', stroke: color, 'stroke-width': lines, 'stroke-linecap': 'round', 'stroke-linejoin': 'round' };
  return {
    viewBox: `0 0 ${width} ${height}`,
    width: Number(((size * width) / height).toFixed(3)),
    height: size,
    ...(lines === undefined ? { fill: color } : stroke),
    ...(label === undefined ? { 'aria-hidden': 'true' } : { role: 'img', 'aria-label': label }),
  };
}

const isDefined = (entry: [string, string | number | undefined]): entry is [string, string | number] => entry[1] !== undefined;

/**
 * An icon as SVG text, for environments without a document.
 * @throws RangeError if the size is not a positive number.
 */
export function toSvgText(glyph: Glyph, options: IconOptions = {}): string {
  const open = (tag: string, attributes: Attributes): string =>
    [
      tag,
      ...Object.entries(attributes)
        .filter(isDefined)
        .map(([name, value]) => `${name}="${escapeXml(`${value}`)}"`),
    ].join(' ');
  const parts = glyph.parts.map(([tag, attributes]) => `<${open(tag, attributes)}/>`);
  return `<${open('svg', { xmlns: NAMESPACE, ...toAttributes(glyph, options) })}>${parts.join('')}</svg>`;
}

/**
 * An icon as an element of the page. It is created without markup, so any content security policy allows it.
 * @throws RangeError if the size is not a positive number.
 */
export function createSvgElement(glyph: Glyph, options: IconOptions = {}): SVGSVGElement {
  const svg = document.createElementNS(NAMESPACE, 'svg');
  setAttributes(svg, toAttributes(glyph, options));
  for (const [tag, attributes] of glyph.parts) {
    const part = document.createElementNS(NAMESPACE, tag);
    setAttributes(part, attributes);
    svg.append(part);
  }
  return svg;
}

function setAttributes(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes).filter(isDefined)) element.setAttribute(name, `${value}`);
}

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Returns the glyph of a name. Throws a RangeError that lists the existing names. */
export function getGlyph<Name extends string>(set: ReadonlyMap<string, Glyph>, name: Name, setName: string): Glyph {
  const match = set.get(name);
  if (!match) throw new RangeError(`${setName} has no icon ${JSON.stringify(name)}. Use one of ${[...set.keys()].join(', ')}.`);
  return match;
}
