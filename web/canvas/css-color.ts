let parserContext: OffscreenCanvasRenderingContext2D | null | undefined;

/**
 * Normalizes any CSS colour to the form that drawings store: `red` becomes `#ff0000`, `rgb(0 0 0 / 50%)` becomes `#00000080`. Throws a
 * TypeError that names an invalid colour.
 */
export function normalizeCssColor(color: string): string {
  if (/^#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/i.test(color)) return color.toLowerCase();
  parserContext ??= new OffscreenCanvas(1, 1).getContext('2d');
  if (!parserContext) throw new Error('This browser does not support OffscreenCanvas');
  // Assigning an invalid colour leaves the previous one in place.
  const readings = ['#000000', '#ffffff'].map((initialColor) => {
    if (!parserContext) return '';
    parserContext.fillStyle = initialColor;
    parserContext.fillStyle = color;
    return parserContext.fillStyle;
  });
  const [normalized] = readings;
  if (typeof normalized !== 'string' || normalized !== readings[1]) throw new TypeError(`"${color}" is not a colour`);
  if (normalized.startsWith('#')) return normalized;
  const parts = /^rgba\((\d+), (\d+), (\d+), ([\d.]+)\)$/.exec(normalized)?.slice(1).map(Number);
  if (!parts) throw new TypeError(`"${color}" is outside the sRGB colour space`);
  const [red = 0, green = 0, blue = 0, alpha = 1] = parts;
  return `#${[red, green, blue, Math.round(alpha * 255)].map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}
