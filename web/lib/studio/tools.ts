import type { StudioTool } from '#lib/canvas/studio/tools.ts';

/** Behind “More tools” where there is little room. */
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
  { name: 'Red', value: '#d92d20' },
  { name: 'Orange', value: '#e8760c' },
  { name: 'Yellow', value: '#ffd60a' },
  { name: 'Green', value: '#1f9d55' },
  { name: 'Blue', value: '#1d6fd8' },
  { name: 'Purple', value: '#8338ec' },
  { name: 'Black', value: '#16181d' },
  { name: 'White', value: '#ffffff' },
] as const;

/** CSS pixels. */
export const WIDTHS = [1, 2, 3, 5, 8, 12, 20] as const;
export const SIZES = [12, 16, 20, 28, 40, 64] as const;
