interface Size {
  readonly width: number;
  readonly height: number;
}

/** Distance of a note from its marker, and from the edges of the canvas. */
const GAP_PX = 16;
const EDGE_PX = 12;
/** Space of the panels above. */
const TOP_PX = 72;

/** Position of a note beside its marker, or below or above it on narrow screens; always within the canvas. In CSS pixels. */
export function placeNote(
  marker: { readonly x: number; readonly y: number; readonly radius: number },
  note: Size,
  canvas: Size,
): { left: number; top: number } {
  const clamp = (value: number, min: number, max: number): number => Math.max(min, Math.min(value, max));
  const maxLeft = canvas.width - note.width - EDGE_PX;
  const maxTop = canvas.height - note.height - EDGE_PX;
  const beside = clamp(marker.y - GAP_PX, TOP_PX, Math.max(TOP_PX, maxTop));
  const right = marker.x + marker.radius + GAP_PX;
  if (right <= maxLeft && right >= EDGE_PX) return { left: right, top: beside };
  const left = marker.x - marker.radius - GAP_PX - note.width;
  if (left >= EDGE_PX && left <= maxLeft) return { left, top: beside };
  const below = marker.y + marker.radius + GAP_PX;
  const above = marker.y - marker.radius - GAP_PX - note.height;
  const top = below <= maxTop || above < TOP_PX ? below : above;
  return { left: clamp(marker.x - note.width / 2, EDGE_PX, Math.max(EDGE_PX, maxLeft)), top: clamp(top, TOP_PX, Math.max(TOP_PX, maxTop)) };
}
