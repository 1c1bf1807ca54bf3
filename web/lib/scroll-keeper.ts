/** Upward movement that takes the reader off the bottom, pixels. */
const UNPIN_PX = 3;
/** A downward movement that ends this near the bottom pins again. */
const REPIN_PX = 48;
/** Farther than this from the bottom the jump button shows. */
const FAR_PX = 200;
/** Share of the remaining way that a frame glides, and how far behind fast text it may be, pixels. */
const GLIDE_SHARE = 0.28;
const MAX_BEHIND_PX = 96;
/** So many frames after something was put above, that has the height that it is drawn with. */
const SETTLE_FRAMES = 3;
const UPWARD_KEYS = ['ArrowUp', 'PageUp', 'Home'];

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
  readonly #onChange: (state: ScrollState) => void;
  readonly #reducedMotion = matchMedia('(prefers-reduced-motion: reduce)');
  readonly #resizeObserver: ResizeObserver;
  readonly #abort = new AbortController();
  #isPinned = true;
  #isFar = false;
  #lastTop = 0;
  #lastHeight = 0;
  #upwardPx = 0;
  #wheelPx = 0;
  #frame: number | undefined;
  #shouldGlide = false;
  #touchY: number | null = null;

  constructor(view: HTMLElement, content: HTMLElement, onChange: (state: ScrollState) => void) {
    this.#view = view;
    this.#onChange = onChange;
    this.#resizeObserver = new ResizeObserver(() => this.#onResize());
    this.#resizeObserver.observe(view);
    this.#resizeObserver.observe(content);
    const { signal } = this.#abort;
    view.addEventListener('scroll', () => this.#onScroll(), { passive: true, signal });
    view.addEventListener('wheel', (event) => this.#onWheel(event.deltaY), { passive: true, signal });
    view.addEventListener('touchstart', (event) => (this.#touchY = event.touches[0]?.clientY ?? null), { passive: true, signal });
    view.addEventListener('touchmove', (event) => this.#onTouchMove(event.touches[0]?.clientY), { passive: true, signal });
    view.addEventListener('keydown', (event) => this.#onKeyDown(event), { signal });
    view.addEventListener('click', (event) => this.#onToggle(event.target), { signal });
    this.snapToBottom();
  }

  get isPinned(): boolean {
    return this.#isPinned;
  }

  /** Whether new text is followed gliding (while a reply streams) or at once. */
  set shouldGlide(value: boolean) {
    this.#shouldGlide = value;
  }

  /** To the bottom at once, and pinned there. */
  snapToBottom(): void {
    this.#isPinned = true;
    this.#upwardPx = this.#wheelPx = 0;
    this.#setScrollTop(this.#bottom());
    this.#emitState();
  }

  /** Back to the bottom because the reader asked. */
  jumpToBottom(): void {
    this.#isPinned = true;
    this.#upwardPx = this.#wheelPx = 0;
    // A long way is not travelled: only its end.
    const start = this.#bottom() - this.#view.clientHeight * 1.5;
    if (this.#view.scrollTop < start) this.#setScrollTop(start);
    this.#scrollToBottom(true);
    this.#emitState();
  }

  /** Unpins the view, to show a position further up. */
  unpin(): void {
    this.#isPinned = false;
    this.#emitState();
  }

  /** Keeps the visible content in place while `change` inserts content above it. */
  async preserveAnchor(anchor: HTMLElement | null, change: () => Promise<void>): Promise<void> {
    const before = anchor?.getBoundingClientRect().top ?? 0;
    this.#view.style.overflowAnchor = 'none';
    await change();
    const getAnchorTop = (): number => {
      if (anchor?.isConnected) this.#setScrollTop(this.#view.scrollTop + anchor.getBoundingClientRect().top - before);
      return this.#view.scrollTop;
    };
    let anchorTop = getAnchorTop();
    // Content above gets its height only when it is rendered. Stops if the reader scrolls meanwhile.
    for (let frames = 0; frames < SETTLE_FRAMES && this.#view.scrollTop === anchorTop; frames++) {
      await new Promise(requestAnimationFrame);
      if (this.#view.scrollTop === anchorTop) anchorTop = getAnchorTop();
    }
    this.#view.style.overflowAnchor = '';
  }

  destroy(): void {
    this.#abort.abort();
    this.#resizeObserver.disconnect();
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
  }

  #bottom(): number {
    return this.#view.scrollHeight - this.#view.clientHeight;
  }

  #setScrollTop(top: number): void {
    this.#view.scrollTop = top;
    this.#lastTop = this.#view.scrollTop;
    this.#lastHeight = this.#view.scrollHeight;
  }

  #onResize(): void {
    // Layout moves the position when content shrinks for a moment, and reports it only later. Scrolling by the reader is reported earlier.
    if (this.#isPinned && this.#view.scrollTop < this.#lastTop) this.#setScrollTop(Math.min(this.#lastTop, this.#bottom()));
    if (this.#isPinned) this.#scrollToBottom(this.#shouldGlide);
    else this.#emitState();
  }

  /** Scrolls to the bottom, over several frames with `glide`; stops when the reader scrolls. */
  #scrollToBottom(glide: boolean): void {
    if (!glide || this.#reducedMotion.matches) {
      if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
      this.#frame = undefined;
      this.#setScrollTop(this.#bottom());
      return this.#emitState();
    }
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = undefined;
      if (!this.#isPinned) return;
      const remainingPx = this.#bottom() - this.#view.scrollTop;
      if (remainingPx <= 0.5) return this.#emitState();
      this.#setScrollTop(
        remainingPx < 2 ? this.#bottom() : this.#view.scrollTop + Math.max(1, remainingPx * GLIDE_SHARE, remainingPx - MAX_BEHIND_PX),
      );
      this.#scrollToBottom(true);
    });
  }

  #onScroll(): void {
    const top = this.#view.scrollTop;
    const moved = top - this.#lastTop;
    // Content that shrank takes the position along; that is no movement of the reader.
    const shrank = this.#view.scrollHeight < this.#lastHeight;
    this.#lastTop = top;
    this.#lastHeight = this.#view.scrollHeight;
    if (moved < 0 && !shrank) this.#onMove(-moved);
    else if (moved > 0) {
      this.#upwardPx = 0;
      if (!this.#isPinned && this.#bottom() - top <= REPIN_PX) this.#isPinned = true;
    }
    this.#emitState();
  }

  #onMove(up: number): void {
    this.#upwardPx += up;
    if (this.#upwardPx >= UNPIN_PX) this.#cancelFollow();
  }

  /** Counted apart from the movement that it makes, which following the end may undo before it is seen. */
  #onWheel(down: number): void {
    this.#wheelPx = down < 0 ? this.#wheelPx - down : 0;
    if (this.#wheelPx >= UNPIN_PX) this.#cancelFollow();
  }

  /** The reader moves the view from here on. */
  #cancelFollow(): void {
    if (this.#bottom() <= 0 || !this.#isPinned) return;
    this.#isPinned = false;
    this.#emitState();
  }

  /** Keys move the view over some frames, which following the end would undo: they take it over at once, as the wheel does. */
  #onKeyDown({ key, shiftKey, target, defaultPrevented }: KeyboardEvent): void {
    const up = UPWARD_KEYS.includes(key) || (key === ' ' && shiftKey && target === this.#view);
    const writes = target instanceof HTMLElement && target.matches('input, textarea');
    if (up && !writes && !defaultPrevented) this.#cancelFollow();
  }

  /** Unpins when the reader expands something, so that it stays in view. */
  #onToggle(target: EventTarget | null): void {
    if (target instanceof Element && target.closest('summary, [aria-expanded]')) this.#isPinned = false;
  }

  #onTouchMove(y: number | undefined): void {
    if (y === undefined || this.#touchY === null) return;
    if (y > this.#touchY) this.#onMove(y - this.#touchY);
    this.#touchY = y;
  }

  #emitState(): void {
    const far = !this.#isPinned && this.#bottom() - this.#view.scrollTop > FAR_PX;
    if (far !== this.#isFar || this.#isPinned !== this.#isEmitted) {
      this.#isFar = far;
      this.#isEmitted = this.#isPinned;
      this.#onChange({ pinned: this.#isPinned, far });
    }
  }

  #isEmitted = true;
}
