import type { Drawing } from '#shared/canvas/drawing.ts';
import type { CoordinateMap, CanvasPoint } from './coordinate-map.ts';

/** Position of a pointer in CSS pixels of the drawing, and its pressure, 0 to 1. */
export interface PointerSample extends CanvasPoint {
  readonly pressure: number;
}

/** Modifiers of a gesture, and whether the pointer is a finger, which is less exact. */
export interface GestureModifiers {
  readonly shift: boolean;
  readonly mod: boolean;
  readonly touch: boolean;
}

export const NO_MODIFIERS: GestureModifiers = { shift: false, mod: false, touch: false };

/** Handlers of press, drag and release, by mouse, pen, finger or keyboard. */
export interface GestureHandlers {
  begin(at: PointerSample, modifiers: GestureModifiers): void;
  /** Receives all samples of the device in order, not only one per frame. */
  extend(samples: readonly PointerSample[], modifiers: GestureModifiers): void;
  end(): void;
  /** Cancels the gesture; nothing of it remains. */
  cancel(): void;
}

/** Pressure of a device that does not report any. */
const DEFAULT_PRESSURE = 0.5;
const KEY_STEP_PX = 10;

interface PointerListenerOptions {
  readonly ground: CoordinateMap;
  readonly gestures: GestureHandlers;
  /** Removes the listeners when it aborts. */
  readonly signal: AbortSignal;
  /** Whether gestures are enabled now. */
  readonly active: () => boolean;
}

/** Converts pointer events of an element to gestures. Returns a function that cancels the current one. */
export function listenToPointers(target: HTMLElement, { ground, gestures, signal, active }: PointerListenerOptions): () => void {
  let pointer: { id: number; type: string } | undefined;
  const stop = (finish: 'end' | 'cancel'): void => {
    if (!pointer) return;
    pointer = undefined;
    gestures[finish]();
  };
  const sample = ({ clientX, clientY, pressure, pointerType }: PointerEvent): PointerSample => ({
    ...ground.toDrawing(clientX, clientY),
    pressure: pointerType === 'pen' ? pressure : DEFAULT_PRESSURE,
  });
  target.style.touchAction = 'none';
  target.addEventListener(
    'pointerdown',
    (event) => {
      if (!active() || event.button !== 0) return;
      // While a pen is used, touches are those of a resting hand, whichever came first.
      if (pointer && !(event.pointerType === 'pen' && pointer.type === 'touch')) return;
      stop('cancel');
      pointer = { id: event.pointerId, type: event.pointerType };
      target.setPointerCapture(event.pointerId);
      gestures.begin(sample(event), getModifiers(event));
    },
    { signal },
  );
  target.addEventListener(
    'pointermove',
    (event) => {
      if (pointer?.id !== event.pointerId) return;
      const events = event.getCoalescedEvents();
      gestures.extend((events.length > 0 ? events : [event]).map(sample), getModifiers(event));
    },
    { signal },
  );
  target.addEventListener('pointerup', (event) => pointer?.id === event.pointerId && stop('end'), { signal });
  target.addEventListener('pointercancel', (event) => pointer?.id === event.pointerId && stop('cancel'), { signal });
  return () => stop('cancel');
}

const getModifiers = ({ shiftKey, ctrlKey, metaKey, pointerType }: PointerEvent): GestureModifiers => ({
  shift: shiftKey,
  mod: ctrlKey || metaKey,
  touch: pointerType === 'touch',
});

interface KeyListenerOptions extends Omit<PointerListenerOptions, 'active'> {
  readonly drawing: Drawing;
  /** Whether gestures of this key are enabled now. */
  readonly active: (event: KeyboardEvent) => boolean;
  /** Keys that press and release. */
  readonly press: readonly string[];
}

/** Arrow keys move a cross (with Shift by one pixel), `press` keys press and release, Escape cancels. */
export function listenToKeys(
  target: HTMLElement,
  cross: HTMLElement,
  { drawing, ground, gestures, signal, active, press }: KeyListenerOptions,
): void {
  let at: CanvasPoint | undefined;
  let pressed = false;
  const stop = (finish: 'end' | 'cancel'): void => {
    if (!pressed) return;
    pressed = false;
    gestures[finish]();
  };
  target.addEventListener(
    'keydown',
    (event) => {
      if (!active(event) || event.ctrlKey || event.metaKey || event.altKey) return;
      const { x, y, width, height } = drawing.page;
      at ??= { x: x + width / 2, y: y + height / 2 };
      const step = event.shiftKey ? 1 : KEY_STEP_PX;
      const by = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }[event.key];
      if (by) {
        at = {
          x: Math.min(Math.max(at.x + (by[0] ?? 0), x), x + width),
          y: Math.min(Math.max(at.y + (by[1] ?? 0), y), y + height),
        };
        if (pressed) gestures.extend([{ ...at, pressure: DEFAULT_PRESSURE }], NO_MODIFIERS);
      } else if (press.includes(event.key)) {
        if (pressed) stop('end');
        else {
          pressed = true;
          gestures.begin({ ...at, pressure: DEFAULT_PRESSURE }, NO_MODIFIERS);
        }
      } else if (event.key === 'Escape' && pressed) stop('cancel');
      else return;
      event.preventDefault();
      cross.hidden = false;
      ground.scrollIntoView?.({ x: at.x - KEY_STEP_PX, y: at.y - KEY_STEP_PX, width: 2 * KEY_STEP_PX, height: 2 * KEY_STEP_PX });
      Object.assign(cross.style, ground.toElement(at));
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
