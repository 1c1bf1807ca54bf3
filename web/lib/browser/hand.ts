import type { Input } from './input-queue.ts';

type Pointed = Pick<PointerEvent, 'pointerId' | 'pointerType' | 'button' | 'buttons' | 'clientX' | 'clientY' | 'timeStamp'>;
type Place = (at: { clientX: number; clientY: number }) => { x: number; y: number };
type Button = 'left' | 'middle' | 'right';

const BUTTONS: readonly Button[] = ['left', 'middle', 'right'];
/** Presses so near each other in time and place are one click of two or three. */
const AGAIN_MS = 500;
const AGAIN_PX = 6;
/** A finger that goes farther scrolls. */
const SLOP_PX = 8;

interface Press {
  button: Button;
  clientX: number;
  clientY: number;
  at: number;
  count: number;
}

/** Translates pointers on a picture of a page to the page's mouse: one pointer at a time. A finger taps, and scrolls by dragging. */
export class Hand {
  readonly #place: Place;
  readonly #add: (input: Input) => void;
  #pointer: number | null = null;
  #press: Press | null = null;
  #last: Press | null = null;
  #finger: { clientX: number; clientY: number; scrolls: boolean } | null = null;

  constructor(place: Place, add: (input: Input) => void) {
    this.#place = place;
    this.#add = add;
  }

  down(event: Pointed): void {
    const button = BUTTONS[event.button];
    if (this.#pointer !== null || !button) return;
    this.#pointer = event.pointerId;
    const { clientX, clientY, timeStamp: at } = event;
    if (event.pointerType === 'touch') this.#finger = { clientX, clientY, scrolls: false };
    else this.#begin({ button, clientX, clientY, at, count: 1 });
  }

  move(event: Pointed): void {
    const { clientX, clientY } = event;
    if (this.#finger) {
      if (event.pointerId === this.#pointer) this.#scroll(this.#finger, event);
    } else if (event.pointerType !== 'touch' && (this.#pointer === null || event.pointerId === this.#pointer))
      this.#add({ type: 'move', ...this.#place({ clientX, clientY }) });
  }

  up(event: Pointed): void {
    if (event.pointerId !== this.#pointer) return;
    const { clientX, clientY, timeStamp: at } = event;
    if (this.#finger && !this.#finger.scrolls) this.#begin({ button: 'left', clientX, clientY, at, count: 1 });
    this.#end({ clientX, clientY });
  }

  /** Releases pressed buttons when the pointer leaves or control is handed back. */
  letGo(): void {
    this.#end(this.#press ?? { clientX: 0, clientY: 0 });
  }

  #begin(press: Press): void {
    const before = this.#last;
    const again =
      before?.button === press.button &&
      press.at - before.at < AGAIN_MS &&
      Math.hypot(press.clientX - before.clientX, press.clientY - before.clientY) < AGAIN_PX;
    this.#press = { ...press, count: again ? (before.count % 3) + 1 : 1 };
    this.#last = this.#press;
    this.#add({ type: 'press', ...this.#place(press), button: press.button, count: this.#press.count });
  }

  #end(at: { clientX: number; clientY: number }): void {
    if (this.#press) {
      const { button, count } = this.#press;
      this.#add({ type: 'release', ...this.#place(at), button, count });
    }
    this.#press = null;
    this.#finger = null;
    this.#pointer = null;
  }

  #scroll(finger: { clientX: number; clientY: number; scrolls: boolean }, { clientX, clientY }: Pointed): void {
    finger.scrolls ||= Math.hypot(clientX - finger.clientX, clientY - finger.clientY) > SLOP_PX;
    if (!finger.scrolls) return;
    const [from, to] = [this.#place(finger), this.#place({ clientX, clientY })];
    Object.assign(finger, { clientX, clientY });
    this.#add({ type: 'wheel', ...to, deltaX: from.x - to.x, deltaY: from.y - to.y });
  }
}
