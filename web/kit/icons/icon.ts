import { FA_GLYPHS, type FaIconName } from './fa-icons.ts';
import { type Glyph, getGlyph, type IconLook, createSvgElement, toSvgText, toIconOptions } from './glyph.ts';
import { LUCIDE_GLYPHS } from './lucide-icons.ts';

/** Default colours, with a contrast of at least 3 : 1 against white and near-black (WCAG 2.2, 1.4.11). */
const COLORS = { success: '#16a34a', error: '#dc2626', warning: '#d97706', info: '#2563eb' } as const;

/** An icon to append to a page. Without a document, as in Node, it has only `toSvg`. */
export interface IconElement extends SVGSVGElement {
  /** Another element of the same icon. */
  toElement(): SVGSVGElement;
  /** The icon as SVG text. */
  toSvg(): string;
}

const fa = (name: FaIconName): Glyph => getGlyph(FA_GLYPHS, name, 'Font Awesome');

/** A function that makes an icon of a glyph. Screen readers say `meaning` unless the options have a label. */
const createIconFunction =
  (glyph: Glyph, meaning: string, defaultColor?: string) =>
  (...look: IconLook): IconElement => {
    const iconOptions = toIconOptions(look);
    const options = { ...iconOptions, label: iconOptions.label ?? meaning, color: iconOptions.color ?? defaultColor };
    const toElement = (): SVGSVGElement => createSvgElement(glyph, options);
    const element = typeof document === 'undefined' ? ({} as SVGSVGElement) : toElement();
    return Object.assign(element, { toElement, toSvg: () => toSvgText(glyph, options) });
  };

/**
 * Icons by meaning: `Icon.success('green', 20)` or `Icon.success({ color: 'green', size: 20, label: 'Saved' })`.
 * @throws RangeError for a size that is not a positive number.
 */
export abstract class Icon {
  /** Green by default. */
  static readonly success = createIconFunction(fa('circle-check'), 'Success', COLORS.success);
  /** Red by default. */
  static readonly error = createIconFunction(fa('circle-xmark'), 'Error', COLORS.error);
  /** Orange by default. */
  static readonly warning = createIconFunction(fa('triangle-exwarning'), 'Warning', COLORS.warning);
  /** Blue by default. */
  static readonly info = createIconFunction(fa('circle-info'), 'Information', COLORS.info);
  static readonly add = createIconFunction(fa('plus'), 'Add');
  static readonly edit = createIconFunction(fa('edit'), 'Edit');
  static readonly delete = createIconFunction(fa('trash'), 'Delete');
  static readonly copy = createIconFunction(fa('copy'), 'Copy');
  static readonly save = createIconFunction(fa('save'), 'Save');
  static readonly menu = createIconFunction(fa('menu'), 'Menu');
  static readonly back = createIconFunction(fa('arrow-left'), 'Back');
  static readonly forward = createIconFunction(fa('arrow-right'), 'Forward');
  static readonly home = createIconFunction(fa('home'), 'Home');
  static readonly brain = createIconFunction(fa('brain'), 'Brain');
  static readonly robot = createIconFunction(fa('robot'), 'Robot');
  static readonly sparkles = createIconFunction(getGlyph(LUCIDE_GLYPHS, 'sparkles', 'Lucide'), 'Sparkles');
}
