import type { DrawingContent } from '#shared/canvas/visible-shapes.ts';

/**
 * Renders a drawing as PNG, `scale` pixels for each CSS pixel, with redactions burned in. Throws a RangeError for an impossible size, and
 * an Error if a picture in it cannot be decoded.
 */
export type Painter = (picture: DrawingContent, scale: number) => Promise<Uint8Array<ArrayBuffer>>;
