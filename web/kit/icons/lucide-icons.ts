import { Bot, Code, type IconNode, MessageSquare, Send, Sparkles, Terminal } from 'lucide';
import { type Glyph, getGlyph, type IconLook, createSvgElement, toIconOptions } from './glyph.ts';

/** An icon of Lucide, the third icon set of `perch/ui`. */
export type LucideIconName = 'send' | 'sparkles' | 'bot' | 'message-square' | 'terminal' | 'code';

const ICON_NODES: Readonly<Record<LucideIconName, IconNode>> = {
  send: Send,
  sparkles: Sparkles,
  bot: Bot,
  'message-square': MessageSquare,
  terminal: Terminal,
  code: Code,
};

/** Size of the grid of the icons, and the stroke width on it. */
const LUCIDE_GRID = { width: 24, height: 24, lines: 2 };

export const LUCIDE_GLYPHS: ReadonlyMap<string, Glyph> = new Map(
  Object.entries(ICON_NODES).map(([name, parts]) => [name, { ...LUCIDE_GRID, parts }]),
);

/**
 * An icon of Lucide, drawn in lines: `lucideIcon('bot', 'teal', 20)` or `lucideIcon('bot', { color: 'teal', size: 20 })`.
 * @returns an inline SVG that needs nothing from the network.
 * @throws RangeError for an unknown name, or a size that is not a positive number.
 */
export const lucideIcon = (name: LucideIconName, ...look: IconLook): SVGSVGElement =>
  createSvgElement(getGlyph(LUCIDE_GLYPHS, name, 'Lucide'), toIconOptions(look));
