import { FA_GLYPHS, type FaIconName } from './fa.ts';
import { type Glyph, glyphOf, type IconLook, svgElement, svgText, toIconOptions } from './glyph.ts';
import { LUCIDE_GLYPHS } from './lucide.ts';

/** At least 3 : 1 against white and against near-black (WCAG 2.2, 1.4.11). */
const COLORS = { success: '#16a34a', error: '#dc2626', warning: '#d97706', info: '#2563eb' } as const;

/** An icon to append to a page. Without a document, as in Node, it has only `toSvg`. */
export interface IconElement extends SVGSVGElement {
  /** Another element of the same icon. */
  toElement(): SVGSVGElement;
  /** The icon as SVG text. */
  toSvg(): string;
}

const fa = (name: FaIconName): Glyph => glyphOf(FA_GLYPHS, name, 'Font Awesome');

/** A function that makes an icon of a glyph. Screen readers say `meaning` unless the options have a label. */
const iconMaker =
  (glyph: Glyph, meaning: string, defaultColor?: string) =>
  (...look: IconLook): IconElement => {
    const given = toIconOptions(look);
    const options = { ...given, label: given.label ?? meaning, color: given.color ?? defaultColor };
    const toElement = (): SVGSVGElement => svgElement(glyph, options);
    const element = typeof document === 'undefined' ? ({} as SVGSVGElement) : toElement();
    return Object.assign(element, { toElement, toSvg: () => svgText(glyph, options) });
  };

/**
 * Icons by meaning: `Icon.success('green', 20)` or `Icon.success({ color: 'green', size: 20, label: 'Saved' })`.
 * @throws RangeError for a size that is not a positive number.
 */
export abstract class Icon {
  /** Green by default. */
  static readonly success = iconMaker(fa('circle-check'), 'Success', COLORS.success);
  /** Red by default. */
  static readonly error = iconMaker(fa('circle-xmark'), 'Error', COLORS.error);
  /** Orange by default. */
  static readonly warning = iconMaker(fa('triangle-exwarning'), 'Warning', COLORS.warning);
  /** Blue by default. */
  static readonly info = iconMaker(fa('circle-info'), 'Information', COLORS.info);
  static readonly add = iconMaker(fa('plus'), 'Add');
  static readonly edit = iconMaker(fa('edit'), 'Edit');
  static readonly delete = iconMaker(fa('trash'), 'Delete');
  static readonly copy = iconMaker(fa('copy'), 'Copy');
  static readonly save = iconMaker(fa('save'), 'Save');
  static readonly menu = iconMaker(fa('menu'), 'Menu');
  static readonly back = iconMaker(fa('arrow-left'), 'Back');
  static readonly forward = iconMaker(fa('arrow-right'), 'Forward');
  static readonly home = iconMaker(fa('home'), 'Home');
  static readonly brain = iconMaker(fa('brain'), 'Brain');
  static readonly robot = iconMaker(fa('robot'), 'Robot');
  static readonly sparkles = iconMaker(glyphOf(LUCIDE_GLYPHS, 'sparkles', 'Lucide'), 'Sparkles');
}
