import type { StudioViewport } from './studio-view-port.ts';
import type { CanvasPoint } from '../coordinate-map.ts';

interface PinchOptions {
  readonly view: StudioViewport;
  readonly signal: AbortSignal;
  /** Called when a second finger comes: what the first one began is given up. */
  readonly onBegin: () => void;
}

/** Two fingers zoom and pan. Returns whether they do so now: until all are lifted nothing else is meant. */
export function listenToPinch(target: HTMLElement, { view, signal, onBegin }: PinchOptions): () => boolean {
  const fingers = new Map<number, CanvasPoint>();
  let pinching = false;
  let pens = 0;
  const spread = (): { middle: CanvasPoint; apart: number } => {
    const [a = { x: 0, y: 0 }, b = a] = [...fingers.values()];
    return { middle: { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 }, apart: Math.max(1, Math.hypot(a.x - b.x, a.y - b.y)) };
  };
  target.addEventListener(
    'pointerdown',
    (event) => {
      if (event.pointerType === 'pen') pens++;
      // With a pen down, a hand lies on the screen.
      if (event.pointerType !== 'touch' || pens > 0) return;
      fingers.set(event.pointerId, view.toElementOffset(event.clientX, event.clientY));
      if (fingers.size !== 2) return;
      pinching = true;
      onBegin();
    },
    { signal },
  );
  target.addEventListener(
    'pointermove',
    (event) => {
      if (!fingers.has(event.pointerId)) return;
      const before = spread();
      fingers.set(event.pointerId, view.toElementOffset(event.clientX, event.clientY));
      if (!pinching || fingers.size !== 2) return;
      const { middle, apart } = spread();
      view.pan(middle.x - before.middle.x, middle.y - before.middle.y);
      view.zoomTo((view.zoom * apart) / before.apart, middle);
    },
    { signal },
  );
  const lift = (event: PointerEvent): void => {
    if (event.pointerType === 'pen') pens = Math.max(0, pens - 1);
    fingers.delete(event.pointerId);
    if (fingers.size === 0) pinching = false;
  };
  target.addEventListener('pointerup', lift, { signal });
  target.addEventListener('pointercancel', lift, { signal });
  return () => pinching;
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
  // Browsers would scroll by it, or open what lies there.
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
  const letGo = ({ pointerId }: PointerEvent): void => {
    if (drag?.id !== pointerId) return;
    target.style.cursor = drag.cursor;
    drag = undefined;
  };
  target.addEventListener('pointerup', letGo, { signal });
  target.addEventListener('pointercancel', letGo, { signal });
}
