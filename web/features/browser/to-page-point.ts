interface Size {
  width: number;
  height: number;
}

/** Converts a position on a page's picture to the page, both in their own pixels; positions outside the picture move to its edge. */
export function toPagePoint(page: Size, picture: Size & { left: number; top: number }, at: { clientX: number; clientY: number }) {
  const scale = (offset: number, length: number, pixels: number): number =>
    length > 0 ? Math.round(Math.min(Math.max((offset / length) * pixels, 0), pixels - 1)) : 0;
  return {
    x: scale(at.clientX - picture.left, picture.width, page.width),
    y: scale(at.clientY - picture.top, picture.height, page.height),
  };
}
