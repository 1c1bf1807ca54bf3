import { FA_GLYPHS, type FaIconName } from './fa.ts';
import { type Glyph, glyphOf, type IconOptions, svgElement, svgText } from './glyph.ts';
import { LUCIDE_GLYPHS } from './lucide.ts';

/** At least 3 : 1 against white and against near-black (WCAG 2.2, 1.4.11). */
const COLORS = { success: '#16a34a', error: '#dc2626', warning: '#d97706', info: '#2563eb' } as const;

const fa = (name: FaIconName): Glyph => glyphOf(FA_GLYPHS, name, 'set A');

/** Icons by what they mean, whatever set they are of (interface document 2, section 4.3). Screen readers say the meaning, or `label`. */
export class Icon {
  readonly #glyph: Glyph;
  readonly #options: IconOptions;

  private constructor(glyph: Glyph, label: string, options: IconOptions, color?: string) {
    this.#glyph = glyph;
    this.#options = { ...options, label: options.label ?? label, color: options.color ?? color };
  }

  /** Green where no colour is given. */
  static success = (options: IconOptions = {}): Icon => new Icon(fa('circle-check'), 'Success', options, COLORS.success);
  /** Red where no colour is given. */
  static error = (options: IconOptions = {}): Icon => new Icon(fa('circle-xmark'), 'Error', options, COLORS.error);
  /** Orange where no colour is given. */
  static warning = (options: IconOptions = {}): Icon => new Icon(fa('triangle-exwarning'), 'Warning', options, COLORS.warning);
  /** Blue where no colour is given. */
  static info = (options: IconOptions = {}): Icon => new Icon(fa('circle-info'), 'Information', options, COLORS.info);
  static add = (options: IconOptions = {}): Icon => new Icon(fa('plus'), 'Add', options);
  static edit = (options: IconOptions = {}): Icon => new Icon(fa('edit'), 'Edit', options);
  static delete = (options: IconOptions = {}): Icon => new Icon(fa('trash'), 'Delete', options);
  static copy = (options: IconOptions = {}): Icon => new Icon(fa('copy'), 'Copy', options);
  static save = (options: IconOptions = {}): Icon => new Icon(fa('save'), 'Save', options);
  static menu = (options: IconOptions = {}): Icon => new Icon(fa('menu'), 'Menu', options);
  static back = (options: IconOptions = {}): Icon => new Icon(fa('arrow-left'), 'Back', options);
  static forward = (options: IconOptions = {}): Icon => new Icon(fa('arrow-right'), 'Forward', options);
  static home = (options: IconOptions = {}): Icon => new Icon(fa('home'), 'Home', options);
  static brain = (options: IconOptions = {}): Icon => new Icon(fa('brain'), 'Brain', options);
  static robot = (options: IconOptions = {}): Icon => new Icon(fa('robot'), 'Robot', options);
  static sparkles = (options: IconOptions = {}): Icon => new Icon(glyphOf(LUCIDE_GLYPHS, 'sparkles', 'Lucide'), 'Sparkles', options);

  /**
   * A new element for the page.
   * @throws RangeError where the size is not a positive number.
   */
  toElement(): SVGSVGElement {
    return svgElement(this.#glyph, this.#options);
  }

  /**
   * As SVG text, for where there is no document.
   * @throws RangeError where the size is not a positive number.
   */
  toSvg(): string {
    return svgText(this.#glyph, this.#options);
  }
}
