import type { StudioTool } from '#canvas/studio/studio-tools.ts';
import { m } from '#app/i18n/messages.ts';

/** Tools behind “More tools” on narrow screens. */
export const RARE_TOOLS: ReadonlySet<StudioTool> = new Set([
  'highlighter',
  'ellipse',
  'line',
  'polygon',
  'star',
  'callout',
  'blur',
  'erase',
  'crop',
]);

export const COLORS = [
  { name: () => m.annotate_colour_red(), value: '#d92d20' },
  { name: () => m.annotate_colour_orange(), value: '#e8760c' },
  { name: () => m.annotate_colour_yellow(), value: '#ffd60a' },
  { name: () => m.annotate_colour_green(), value: '#1f9d55' },
  { name: () => m.annotate_colour_blue(), value: '#1d6fd8' },
  { name: () => m.annotate_colour_purple(), value: '#8338ec' },
  { name: () => m.annotate_colour_black(), value: '#16181d' },
  { name: () => m.annotate_colour_white(), value: '#ffffff' },
] as const;

/** CSS pixels. */
export const STROKE_WIDTHS = [1, 2, 3, 5, 8, 12, 20] as const;
export const FONT_SIZES = [12, 16, 20, 28, 40, 64] as const;
