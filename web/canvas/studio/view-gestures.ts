import type { StudioViewport } from './studio-view-port.ts';
import type { CanvasPoint } from '../coordinate-map.ts';

interface PinchOptions {
  readonly view: StudioViewport;
  readonly signal: AbortSignal;
  /** Called when a second finger touches; the gesture of the first one has to be cancelled. */
  readonly onBegin: () => void;
}

/** Zooms and pans by two fingers. The returned function tells whether a pinch is active, until all fingers are lifted. */
export function listenToPinch(target: HTMLElement, { view, signal, onBegin }: PinchOptions): () => boolean {
  const fingers = new Map<number, CanvasPoint>();
  let isPinching = false;
  let penCount = 0;
  const getSpread = (): { middle: CanvasPoint; distance: number } => {
    const [a = { x: 0, y: 0 }, b = a] = [...fingers.values()];
    return { middle: { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 }, distance: Math.max(1, Math.hypot(a.x - b.x, a.y - b.y)) };
  };
  target.addEventListener(
    'pointerdown',
    (event) => {
      if (event.pointerType === 'pen') penCount++;
      // While a pen is down, touches are those of a resting hand.
      if (event.pointerType !== 'touch' || penCount > 0) return;
      fingers.set(event.pointerId, view.toElementOffset(event.clientX, event.clientY));
      if (fingers.size !== 2) return;
      isPinching = true;
      onBegin();
    },
    { signal },
  );
  target.addEventListener(
    'pointermove',
    (event) => {
      if (!fingers.has(event.pointerId)) return;
      const before = getSpread();
      fingers.set(event.pointerId, view.toElementOffset(event.clientX, event.clientY));
      if (!isPinching || fingers.size !== 2) return;
      const { middle, distance } = getSpread();
      view.pan(middle.x - before.middle.x, middle.y - before.middle.y);
      view.zoomTo((view.zoom * distance) / before.distance, middle);
    },
    { signal },
  );
  const lift = (event: PointerEvent): void => {
    if (event.pointerType === 'pen') penCount = Math.max(0, penCount - 1);
    fingers.delete(event.pointerId);
    if (fingers.size === 0) isPinching = false;
  };
  target.addEventListener('pointerup', lift, { signal });
  target.addEventListener('pointercancel', lift, { signal });
  return () => isPinching;
}

/** The wheel pans; with Mod, or two fingers on a touchpad, it zooms about the pointer. */
export function listenToWheel(target: HTMLElement, { view, signal }: Pick<PinchOptions, 'view' | 'signal'>): void {
  target.addEventListener(
    'wheel',
    (event) => {
      event.preventDefault();
      const unit =
        event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : event.deltaMode === WheelEvent.DOM_DELTA_PAGE ? view.size.height : 1;
      const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
      if (event.ctrlKey || event.metaKey) {
        const by = Math.exp(-Math.max(-50, Math.min(50, dy)) / 100);
        view.zoomTo(view.zoom * by, view.toElementOffset(event.clientX, event.clientY));
      } else if (event.shiftKey && dx === 0) view.pan(-dy, 0);
      else view.pan(-dx, -dy);
    },
    { signal, passive: false },
  );
}

/** The middle button pans the view with every tool. */
export function listenToMiddleButton(target: HTMLElement, { view, signal }: Pick<PinchOptions, 'view' | 'signal'>): void {
  let drag: { id: number; x: number; y: number; cursor: string } | undefined;
  // Browsers would start scrolling, or open a link.
  target.addEventListener('mousedown', (event) => event.button === 1 && event.preventDefault(), { signal });
  target.addEventListener(
    'pointerdown',
    ({ button, pointerId: id, clientX: x, clientY: y }) => {
      if (button !== 1 || drag) return;
      drag = { id, x, y, cursor: target.style.cursor };
      target.setPointerCapture(id);
      target.style.cursor = 'grabbing';
    },
    { signal },
  );
  target.addEventListener(
    'pointermove',
    ({ pointerId, clientX: x, clientY: y }) => {
      if (drag?.id !== pointerId) return;
      view.pan(x - drag.x, y - drag.y);
      drag = { ...drag, x, y };
    },
    { signal },
  );
  const endDrag = ({ pointerId }: PointerEvent): void => {
    if (drag?.id !== pointerId) return;
    target.style.cursor = drag.cursor;
    drag = undefined;
  };
  target.addEventListener('pointerup', endDrag, { signal });
  target.addEventListener('pointercancel', endDrag, { signal });
}
