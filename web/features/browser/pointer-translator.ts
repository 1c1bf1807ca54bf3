import type { Input } from './input-queue.ts';

type PointerInput = Pick<PointerEvent, 'pointerId' | 'pointerType' | 'button' | 'buttons' | 'clientX' | 'clientY' | 'timeStamp'>;
type ToPagePoint = (at: { clientX: number; clientY: number }) => { x: number; y: number };
type MouseButton = 'left' | 'middle' | 'right';

const BUTTONS: readonly MouseButton[] = ['left', 'middle', 'right'];
/** Maximum time and distance between presses of a double or triple click. */
const MULTI_CLICK_MS = 500;
const MULTI_CLICK_PX = 6;
/** Maximum movement of a tap; a finger that moves farther scrolls. */
const TAP_SLOP_PX = 8;

interface Press {
  button: MouseButton;
  clientX: number;
  clientY: number;
  at: number;
  count: number;
}

/** Translates pointers on a picture of a page to the page's mouse: one pointer at a time. A finger taps, and scrolls by dragging. */
export class PointerTranslator {
  readonly #toPagePoint: ToPagePoint;
  readonly #add: (input: Input) => void;
  #pointer: number | null = null;
  #press: Press | null = null;
  #lastPress: Press | null = null;
  #touch: { clientX: number; clientY: number; scrolls: boolean } | null = null;

  constructor(toPagePoint: ToPagePoint, add: (input: Input) => void) {
    this.#toPagePoint = toPagePoint;
    this.#add = add;
  }

  down(event: PointerInput): void {
    const button = BUTTONS[event.button];
    if (this.#pointer !== null || !button) return;
    this.#pointer = event.pointerId;
    const { clientX, clientY, timeStamp: at } = event;
    if (event.pointerType === 'touch') this.#touch = { clientX, clientY, scrolls: false };
    else this.#begin({ button, clientX, clientY, at, count: 1 });
  }

  move(event: PointerInput): void {
    const { clientX, clientY } = event;
    if (this.#touch) {
      if (event.pointerId === this.#pointer) this.#scroll(this.#touch, event);
    } else if (event.pointerType !== 'touch' && (this.#pointer === null || event.pointerId === this.#pointer))
      this.#add({ type: 'move', ...this.#toPagePoint({ clientX, clientY }) });
  }

  up(event: PointerInput): void {
    if (event.pointerId !== this.#pointer) return;
    const { clientX, clientY, timeStamp: at } = event;
    if (this.#touch && !this.#touch.scrolls) this.#begin({ button: 'left', clientX, clientY, at, count: 1 });
    this.#end({ clientX, clientY });
  }

  /** Releases pressed buttons when the pointer leaves or control is handed back. */
  release(): void {
    this.#end(this.#press ?? { clientX: 0, clientY: 0 });
  }

  #begin(press: Press): void {
    const previous = this.#lastPress;
    const isRepeated =
      previous?.button === press.button &&
      press.at - previous.at < MULTI_CLICK_MS &&
      Math.hypot(press.clientX - previous.clientX, press.clientY - previous.clientY) < MULTI_CLICK_PX;
    this.#press = { ...press, count: isRepeated ? (previous.count % 3) + 1 : 1 };
    this.#lastPress = this.#press;
    this.#add({ type: 'press', ...this.#toPagePoint(press), button: press.button, count: this.#press.count });
  }

  #end(at: { clientX: number; clientY: number }): void {
    if (this.#press) {
      const { button, count } = this.#press;
      this.#add({ type: 'release', ...this.#toPagePoint(at), button, count });
    }
    this.#press = null;
    this.#touch = null;
    this.#pointer = null;
  }

  #scroll(finger: { clientX: number; clientY: number; scrolls: boolean }, { clientX, clientY }: PointerInput): void {
    finger.scrolls ||= Math.hypot(clientX - finger.clientX, clientY - finger.clientY) > TAP_SLOP_PX;
    if (!finger.scrolls) return;
    const [from, to] = [this.#toPagePoint(finger), this.#toPagePoint({ clientX, clientY })];
    Object.assign(finger, { clientX, clientY });
    this.#add({ type: 'wheel', ...to, deltaX: from.x - to.x, deltaY: from.y - to.y });
  }
}
