import { m } from '#app/i18n/messages.ts';

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

/** Widths that the panel shows as buttons, in CSS pixels. */
export const QUICK_WIDTHS = [3, 5, 8] as const;
export const STROKE_WIDTHS = [1, 2, 3, 5, 8, 12, 20] as const;
export const FONT_SIZES = [12, 16, 20, 28, 40, 64] as const;
