import type { FitMargins } from '#canvas/studio.ts';

/** Width in CSS pixels below which the panels are at the bottom. */
export const NARROW_WIDTH_PX = 704;
const WIDE_WIDTH_PX = 1056;
/** Width below which the toolbar has two rows. */
const ROW_WIDTH_PX = 576;

/** Space that the panels around a fitted drawing need, by the width of the page in CSS pixels. The style is at its start. */
export function getFitMargins(width: number, isRtl: boolean): FitMargins {
  if (width >= WIDE_WIDTH_PX) return { top: 80, bottom: 76, left: 88, right: 88 };
  if (width >= NARROW_WIDTH_PX) return { top: 132, bottom: 76, left: isRtl ? 24 : 80, right: isRtl ? 80 : 24 };
  return { top: 72, bottom: width < ROW_WIDTH_PX ? 176 : 128, left: 12, right: 12 };
}
