// Runs in the page: what the benchmark tells it to do with one of the two.
import { type Contestant, ours, plain } from './contestants.ts';
import { SHEET } from './scene.ts';

export type Name = 'ours' | 'plain';
export type Motion = 'pan' | 'zoom' | 'undo';

/** Moves the view for the nth frame. */
const MOTIONS: Record<Motion, (shown: Contestant, nth: number) => void> = {
  pan: (shown, nth) => shown.view(Math.round(300 * Math.sin(nth / 9)), Math.round(200 * Math.sin(nth / 13)), 1),
  zoom(shown, nth) {
    const zoom = 1.35 + Math.sin(nth / 15);
    shown.view((SHEET.width / 2) * (1 - zoom), (SHEET.height / 2) * (1 - zoom), zoom);
  },
  undo(shown) {
    shown.undo();
    shown.render();
  },
};

const frame = (): Promise<number> => new Promise((resolve) => requestAnimationFrame(resolve));
const { port1, port2 } = new MessageChannel();
const task = (): Promise<unknown> =>
  new Promise((resolve) => {
    port1.onmessage = resolve;
    port2.postMessage(0);
  });
let shown: Contestant | undefined;
const current = (): Contestant => {
  if (!shown) throw new Error('nothing is shown');
  return shown;
};

const page = {
  async show(name: Name, count: number): Promise<void> {
    await shown?.dispose();
    shown = (name === 'ours' ? ours : plain)(count);
    document.body.replaceChildren(shown.element);
    await frame();
    await frame();
  },
  /** One movement a frame; each frame begins with a mark in the trace. */
  async move(motion: Motion, frames: number): Promise<void> {
    for (let nth = 0; nth < frames; nth++) {
      await frame();
      performance.mark('bench-frame');
      MOTIONS[motion](current(), nth);
    }
    await frame();
    performance.mark('bench-end');
  },
  steps: (count: number): void => current().steps(count),
  /** Milliseconds of each undo, without what it shows. */
  undo: (count: number): number[] =>
    Array.from({ length: count }, () => {
      const began = performance.now();
      current().undo();
      return performance.now() - began;
    }),
  async png(): Promise<number> {
    const began = performance.now();
    const bytes = await current().png();
    if (bytes < 1000) throw new Error('the picture is empty');
    return performance.now() - began;
  },
  /** Marks frames until the pointer is lifted. */
  async untilLifted(): Promise<void> {
    let over = false;
    window.addEventListener('pointerup', () => (over = true), { capture: true, once: true });
    while (!over) {
      await frame();
      performance.mark('bench-frame');
    }
    await frame();
    performance.mark('bench-end');
  },
  /** Watches what a pointer draws until it is lifted: for each move that was painted, in which frame after it. */
  async watchPen(): Promise<number[]> {
    const { surface } = current();
    const waits: number[] = [];
    let waiting: { x: number; y: number; frames: number } | undefined;
    let over = false;
    const moved = ({ clientX, clientY, buttons }: PointerEvent): void => {
      if (buttons === 1) waiting ??= { x: clientX, y: clientY, frames: 0 };
    };
    window.addEventListener('pointermove', moved, { capture: true });
    window.addEventListener('pointerup', () => (over = true), { capture: true, once: true });
    const box = surface.getBoundingClientRect();
    while (!over) {
      await frame();
      // After all that others do in this frame, and what is shown of it.
      await task();
      if (!waiting) continue;
      waiting.frames++;
      if (!current().inkAt(waiting.x - box.left, waiting.y - box.top)) continue;
      waits.push(waiting.frames);
      waiting = undefined;
    }
    window.removeEventListener('pointermove', moved, { capture: true });
    return waits;
  },
};

export type BenchPage = typeof page;
Object.assign(globalThis, { bench: page });
