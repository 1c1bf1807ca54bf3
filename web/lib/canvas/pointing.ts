import type { Drawing } from '#shared/canvas/drawing.ts';

/** Where something points, in CSS pixels of the drawing, and how hard, 0 to 1. */
export interface Sample {
  readonly x: number;
  readonly y: number;
  readonly pressure: number;
}

/** What comes of pressing, dragging and letting go, with whatever: mouse, pen, finger or keys. */
export interface Gestures {
  begin(at: Sample): void;
  /** In the order in which they came; all that the device noticed, not one for each frame. */
  extend(samples: readonly Sample[]): void;
  end(): void;
  /** It was no gesture after all: nothing is to be left of it. */
  cancel(): void;
}

/** What a device that knows no pressure presses with. */
const EVEN = 0.5;
const STEP = 10;

interface Pointed {
  readonly drawing: Drawing;
  readonly gestures: Gestures;
  /** Ends the listening. */
  readonly signal: AbortSignal;
  /** Whether gestures are wanted now. */
  readonly active: () => boolean;
}

/** Turns the pointers and keys of an element, which the drawing fills, into gestures. */
export function listenToPointing(target: HTMLElement, cross: HTMLElement, { drawing, gestures, signal, active }: Pointed): void {
  let held: { id: number; type: string } | undefined;
  const stop = (finish: 'end' | 'cancel'): void => {
    if (!held) return;
    held = undefined;
    gestures[finish]();
  };
  const sample = ({ clientX, clientY, pressure, pointerType }: PointerEvent): Sample => {
    const { left, top, width, height } = target.getBoundingClientRect();
    const { page } = drawing;
    return {
      x: page.x + ((clientX - left) * page.width) / width,
      y: page.y + ((clientY - top) * page.height) / height,
      pressure: pointerType === 'pen' ? pressure : EVEN,
    };
  };
  target.style.touchAction = 'none';
  target.addEventListener(
    'pointerdown',
    (event) => {
      if (!active() || event.button !== 0) return;
      // A hand that lies on the screen is no finger while there is a pen, whichever came first.
      if (held && !(event.pointerType === 'pen' && held.type === 'touch')) return;
      stop('cancel');
      held = { id: event.pointerId, type: event.pointerType };
      target.setPointerCapture(event.pointerId);
      gestures.begin(sample(event));
    },
    { signal },
  );
  target.addEventListener(
    'pointermove',
    (event) => {
      if (held?.id !== event.pointerId) return;
      const all = event.getCoalescedEvents();
      gestures.extend((all.length > 0 ? all : [event]).map(sample));
    },
    { signal },
  );
  target.addEventListener('pointerup', (event) => held?.id === event.pointerId && stop('end'), { signal });
  target.addEventListener('pointercancel', (event) => held?.id === event.pointerId && stop('cancel'), { signal });
  listenToKeys(target, cross, { drawing, gestures, signal, active });
}

/** Arrows move a cross (with Shift by one pixel), Enter or the space bar presses and lets go, Escape gives up. */
function listenToKeys(target: HTMLElement, cross: HTMLElement, { drawing, gestures, signal, active }: Pointed): void {
  let at = { x: drawing.page.x + drawing.page.width / 2, y: drawing.page.y + drawing.page.height / 2 };
  let pressed = false;
  const show = (): void => {
    const { x, y, width, height } = drawing.page;
    cross.hidden = false;
    cross.style.left = `${((at.x - x) / width) * 100}%`;
    cross.style.top = `${((at.y - y) / height) * 100}%`;
  };
  const stop = (finish: 'end' | 'cancel'): void => {
    if (!pressed) return;
    pressed = false;
    gestures[finish]();
  };
  target.addEventListener(
    'keydown',
    (event) => {
      if (!active() || event.ctrlKey || event.metaKey || event.altKey) return;
      const step = event.shiftKey ? 1 : STEP;
      const by = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }[event.key];
      if (by) {
        const { x, y, width, height } = drawing.page;
        at = {
          x: Math.min(Math.max(at.x + (by[0] ?? 0), x), x + width),
          y: Math.min(Math.max(at.y + (by[1] ?? 0), y), y + height),
        };
        if (pressed) gestures.extend([{ ...at, pressure: EVEN }]);
      } else if (event.key === 'Enter' || event.key === ' ') {
        if (pressed) stop('end');
        else {
          pressed = true;
          gestures.begin({ ...at, pressure: EVEN });
        }
      } else if (event.key === 'Escape' && pressed) stop('cancel');
      else return;
      event.preventDefault();
      show();
    },
    { signal },
  );
  target.addEventListener(
    'blur',
    () => {
      cross.hidden = true;
      stop('cancel');
    },
    { signal },
  );
  target.addEventListener('pointerdown', () => void (cross.hidden = true), { signal });
}
