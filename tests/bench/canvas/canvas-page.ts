// Runs in the page: carries out the benchmark's commands for one of the two contestants.
import { type Contestant, createPerchContestant, createFabricContestant } from './contestants.ts';
import { SHEET_SIZE } from './scene.ts';

export type ContestantName = 'ours' | 'plain';
export type Motion = 'pan' | 'zoom' | 'undo';

/** Moves the view for the nth frame. */
const MOTIONS: Record<Motion, (contestant: Contestant, nth: number) => void> = {
  pan: (contestant, nth) => contestant.view(Math.round(300 * Math.sin(nth / 9)), Math.round(200 * Math.sin(nth / 13)), 1),
  zoom(contestant, nth) {
    const zoom = 1.35 + Math.sin(nth / 15);
    contestant.view((SHEET_SIZE.width / 2) * (1 - zoom), (SHEET_SIZE.height / 2) * (1 - zoom), zoom);
  },
  undo(contestant) {
    contestant.undo();
    contestant.render();
  },
};

const nextFrame = (): Promise<number> => new Promise((resolve) => requestAnimationFrame(resolve));
const { port1, port2 } = new MessageChannel();
const nextTask = (): Promise<unknown> =>
  new Promise((resolve) => {
    port1.onmessage = resolve;
    port2.postMessage(0);
  });
let shownContestant: Contestant | undefined;
const current = (): Contestant => {
  if (!shownContestant) throw new Error('nothing is shown');
  return shownContestant;
};

const benchPage = {
  async show(name: ContestantName, count: number): Promise<void> {
    await shownContestant?.dispose();
    shownContestant = (name === 'ours' ? createPerchContestant : createFabricContestant)(count);
    document.body.replaceChildren(shownContestant.element);
    await nextFrame();
    await nextFrame();
  },
  /** Moves the pointer once per frame; each frame begins with a mark in the trace. */
  async move(motion: Motion, frames: number): Promise<void> {
    for (let nth = 0; nth < frames; nth++) {
      await nextFrame();
      performance.mark('bench-frame');
      MOTIONS[motion](current(), nth);
    }
    await nextFrame();
    performance.mark('bench-end');
  },
  steps: (count: number): void => current().steps(count),
  /** Milliseconds of each undo, without rendering. */
  undo: (count: number): number[] =>
    Array.from({ length: count }, () => {
      const startedAt = performance.now();
      current().undo();
      return performance.now() - startedAt;
    }),
  async png(): Promise<number> {
    const startedAt = performance.now();
    const bytes = await current().png();
    if (bytes < 1000) throw new Error('the picture is empty');
    return performance.now() - startedAt;
  },
  /** Marks frames until the pointer is lifted. */
  async untilLifted(): Promise<void> {
    let isLifted = false;
    window.addEventListener('pointerup', () => (isLifted = true), { capture: true, once: true });
    while (!isLifted) {
      await nextFrame();
      performance.mark('bench-frame');
    }
    await nextFrame();
    performance.mark('bench-end');
  },
  /** Observes a pointer's stroke: for each painted move, the number of frames until it was painted. */
  async watchPen(): Promise<number[]> {
    const { surface } = current();
    const frameCounts: number[] = [];
    let waiting: { x: number; y: number; frames: number } | undefined;
    let isLifted = false;
    const moved = ({ clientX, clientY, buttons }: PointerEvent): void => {
      if (buttons === 1) waiting ??= { x: clientX, y: clientY, frames: 0 };
    };
    window.addEventListener('pointermove', moved, { capture: true });
    window.addEventListener('pointerup', () => (isLifted = true), { capture: true, once: true });
    const box = surface.getBoundingClientRect();
    while (!isLifted) {
      await nextFrame();
      // Runs after all other callbacks of this frame and its rendering.
      await nextTask();
      if (!waiting) continue;
      waiting.frames++;
      if (!current().inkAt(waiting.x - box.left, waiting.y - box.top)) continue;
      frameCounts.push(waiting.frames);
      waiting = undefined;
    }
    window.removeEventListener('pointermove', moved, { capture: true });
    return frameCounts;
  },
};

export type BenchPage = typeof benchPage;
Object.assign(globalThis, { bench: benchPage });
