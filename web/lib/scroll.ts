/** Upward movement that takes the reader off the bottom, pixels. */
const UNPIN = 3;
/** A downward movement that ends this near the bottom pins again. */
const NEAR = 48;
/** Farther than this from the bottom the jump button shows. */
const FAR = 200;
/** Share of the remaining way that a frame glides, and how far behind fast text it may be, pixels. */
const GLIDE = 0.28;
const BEHIND = 96;
/** So many frames after something was put above, that has the height that it is drawn with. */
const DRAWN_FRAMES = 3;
const UPWARD = ['ArrowUp', 'PageUp', 'Home'];

export interface ScrollState {
  /** The view follows content added below. */
  pinned: boolean;
  /** So far from the bottom that a way back is offered. */
  far: boolean;
}

/**
 * Controls a chat's scroll position. When pinned, it follows the bottom: at once on load, smoothly while text streams. Scrolling up unpins
 * it, and the view then stays until the reader scrolls back to the bottom.
 */
export class ScrollKeeper {
  readonly #view: HTMLElement;
  readonly #changed: (state: ScrollState) => void;
  readonly #calm = matchMedia('(prefers-reduced-motion: reduce)');
  readonly #watch: ResizeObserver;
  readonly #listening = new AbortController();
  #pinned = true;
  #far = false;
  #last = 0;
  #height = 0;
  #up = 0;
  #wheel = 0;
  #frame: number | undefined;
  #glides = false;
  #touch: number | null = null;

  constructor(view: HTMLElement, content: HTMLElement, changed: (state: ScrollState) => void) {
    this.#view = view;
    this.#changed = changed;
    this.#watch = new ResizeObserver(() => this.#resized());
    this.#watch.observe(view);
    this.#watch.observe(content);
    const { signal } = this.#listening;
    view.addEventListener('scroll', () => this.#scrolled(), { passive: true, signal });
    view.addEventListener('wheel', (event) => this.#turned(event.deltaY), { passive: true, signal });
    view.addEventListener('touchstart', (event) => (this.#touch = event.touches[0]?.clientY ?? null), { passive: true, signal });
    view.addEventListener('touchmove', (event) => this.#dragged(event.touches[0]?.clientY), { passive: true, signal });
    view.addEventListener('keydown', (event) => this.#keyed(event), { signal });
    view.addEventListener('click', (event) => this.#opened(event.target), { signal });
    this.snap();
  }

  get pinned(): boolean {
    return this.#pinned;
  }

  /** Whether new text is followed gliding (while a reply streams) or at once. */
  set glides(value: boolean) {
    this.#glides = value;
  }

  /** To the bottom at once, and pinned there. */
  snap(): void {
    this.#pinned = true;
    this.#up = this.#wheel = 0;
    this.#place(this.#bottom());
    this.#tell();
  }

  /** Back to the bottom because the reader asked. */
  jump(): void {
    this.#pinned = true;
    this.#up = this.#wheel = 0;
    // A long way is not travelled: only its end.
    const start = this.#bottom() - this.#view.clientHeight * 1.5;
    if (this.#view.scrollTop < start) this.#place(start);
    this.#follow(true);
    this.#tell();
  }

  /** Unpins the view, to show a position further up. */
  release(): void {
    this.#pinned = false;
    this.#tell();
  }

  /** Keeps the visible content in place while `change` inserts content above it. */
  async hold(anchor: HTMLElement | null, change: () => Promise<void>): Promise<void> {
    const before = anchor?.getBoundingClientRect().top ?? 0;
    this.#view.style.overflowAnchor = 'none';
    await change();
    const keep = (): number => {
      if (anchor?.isConnected) this.#place(this.#view.scrollTop + anchor.getBoundingClientRect().top - before);
      return this.#view.scrollTop;
    };
    let kept = keep();
    // Content above gets its height only when it is rendered. Stops if the reader scrolls meanwhile.
    for (let frames = 0; frames < DRAWN_FRAMES && this.#view.scrollTop === kept; frames++) {
      await new Promise(requestAnimationFrame);
      if (this.#view.scrollTop === kept) kept = keep();
    }
    this.#view.style.overflowAnchor = '';
  }

  destroy(): void {
    this.#listening.abort();
    this.#watch.disconnect();
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
  }

  #bottom(): number {
    return this.#view.scrollHeight - this.#view.clientHeight;
  }

  #place(top: number): void {
    this.#view.scrollTop = top;
    this.#last = this.#view.scrollTop;
    this.#height = this.#view.scrollHeight;
  }

  #resized(): void {
    // Layout moves the position when content shrinks for a moment, and reports it only later. Scrolling by the reader is reported earlier.
    if (this.#pinned && this.#view.scrollTop < this.#last) this.#place(Math.min(this.#last, this.#bottom()));
    if (this.#pinned) this.#follow(this.#glides);
    else this.#tell();
  }

  /** Scrolls to the bottom, over several frames with `glide`; stops when the reader scrolls. */
  #follow(glide: boolean): void {
    if (!glide || this.#calm.matches) {
      if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
      this.#frame = undefined;
      this.#place(this.#bottom());
      return this.#tell();
    }
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = undefined;
      if (!this.#pinned) return;
      const left = this.#bottom() - this.#view.scrollTop;
      if (left <= 0.5) return this.#tell();
      this.#place(left < 2 ? this.#bottom() : this.#view.scrollTop + Math.max(1, left * GLIDE, left - BEHIND));
      this.#follow(true);
    });
  }

  #scrolled(): void {
    const top = this.#view.scrollTop;
    const moved = top - this.#last;
    // Content that shrank takes the position along; that is no movement of the reader.
    const shrank = this.#view.scrollHeight < this.#height;
    this.#last = top;
    this.#height = this.#view.scrollHeight;
    if (moved < 0 && !shrank) this.#moved(-moved);
    else if (moved > 0) {
      this.#up = 0;
      if (!this.#pinned && this.#bottom() - top <= NEAR) this.#pinned = true;
    }
    this.#tell();
  }

  #moved(up: number): void {
    this.#up += up;
    if (this.#up >= UNPIN) this.#taken();
  }

  /** Counted apart from the movement that it makes, which following the end may undo before it is seen. */
  #turned(down: number): void {
    this.#wheel = down < 0 ? this.#wheel - down : 0;
    if (this.#wheel >= UNPIN) this.#taken();
  }

  /** The reader moves the view from here on. */
  #taken(): void {
    if (this.#bottom() <= 0 || !this.#pinned) return;
    this.#pinned = false;
    this.#tell();
  }

  /** Keys move the view over some frames, which following the end would undo: they take it over at once, as the wheel does. */
  #keyed({ key, shiftKey, target, defaultPrevented }: KeyboardEvent): void {
    const up = UPWARD.includes(key) || (key === ' ' && shiftKey && target === this.#view);
    const writes = target instanceof HTMLElement && target.matches('input, textarea');
    if (up && !writes && !defaultPrevented) this.#taken();
  }

  /** Unpins when the reader expands something, so that it stays in view. */
  #opened(target: EventTarget | null): void {
    if (target instanceof Element && target.closest('summary, [aria-expanded]')) this.#pinned = false;
  }

  #dragged(y: number | undefined): void {
    if (y === undefined || this.#touch === null) return;
    if (y > this.#touch) this.#moved(y - this.#touch);
    this.#touch = y;
  }

  #tell(): void {
    const far = !this.#pinned && this.#bottom() - this.#view.scrollTop > FAR;
    if (far !== this.#far || this.#pinned !== this.#told) {
      this.#far = far;
      this.#told = this.#pinned;
      this.#changed({ pinned: this.#pinned, far });
    }
  }

  #told = true;
}
