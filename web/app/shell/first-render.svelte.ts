import { yieldToEventLoop } from '#shared/async/time-slicer.ts';

/** Parts of the first page, in the order in which they are rendered. */
const PARTS = ['frame', 'page', 'content', 'sidebar', 'notices'] as const;
type Part = (typeof PARTS)[number];

/**
 * Renders the first page in several tasks, since a single one would block a slow device for half a second. The build renders all of it at
 * once (web/start-page.ts).
 */
class FirstRender {
  #count = $state(import.meta.env.SSR ? PARTS.length : 1);
  readonly #finished = Promise.withResolvers<void>();

  has(part: Part): boolean {
    return PARTS.indexOf(part) < this.#count;
  }

  /** Renders the other parts, then removes the page that the build rendered. */
  async start(): Promise<void> {
    for (; this.#count < PARTS.length; this.#count++) await yieldToEventLoop();
    await yieldToEventLoop();
    this.removeStartPage();
    this.#finished.resolve();
  }

  /** Runs what would force a layout between the parts: at once, or after the last one. */
  afterwards(work: () => void): void {
    if (this.#count === PARTS.length) work();
    else void this.#finished.promise.then(work);
  }

  removeStartPage(): void {
    document.querySelector('#start-page')?.remove();
  }
}

export const firstRender = new FirstRender();
