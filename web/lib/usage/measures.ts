import { number as written } from '#lib/i18n/format.ts';

export const number = (value: number): string => written(value);
/** Where there is little room: `1.2M`. */
export const compact = (value: number): string => written(value, { notation: 'compact', maximumFractionDigits: 1 });
