import type { Picture } from '#shared/canvas/cover.ts';

/**
 * Makes a PNG of a drawing's sheet, `scale` pixels for each CSS pixel, redactions burned in. Throws a RangeError for a size that cannot be made, an Error where
 * a picture on it cannot be read.
 */
export type Painter = (picture: Picture, scale: number) => Promise<Uint8Array<ArrayBuffer>>;
