/** Upward movement that takes the reader off the bottom, pixels. */
const UNPIN_PX = 3;
/** A downward movement that ends this near the bottom pins again. */
const REPIN_PX = 48;
/** Distance from the bottom at which the jump button appears, in pixels. */
const FAR_PX = 200;
/** Share of the remaining distance that is scrolled per frame, and the maximum lag behind fast text, in pixels. */
const GLIDE_SHARE = 0.28;
const MAX_BEHIND_PX = 96;
/** Number of frames after which inserted content has its final height. */
const SETTLE_FRAMES = 3;
const UPWARD_KEYS = ['ArrowUp', 'PageUp', 'Home'];

interface ScrollState {
  /** The view follows content added below. */
  pinned: boolean;
  /** Whether the view is far enough from the bottom to show the jump button. */
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

  /** Whether new text is followed smoothly (while a reply streams) or immediately. */
  set shouldGlide(value: boolean) {
    this.#shouldGlide = value;
  }

  /** Scrolls to the bottom immediately and pins the view. */
  snapToBottom(): void {
    this.#isPinned = true;
    this.#upwardPx = this.#wheelPx = 0;
    this.#setScrollTop(this.#bottom());
    this.#emitState();
  }

  /** Scrolls back to the bottom on request of the reader. */
  jumpToBottom(): void {
    this.#isPinned = true;
    this.#upwardPx = this.#wheelPx = 0;
    // Only the end of a long distance is scrolled smoothly.
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
    const delta = top - this.#lastTop;
    // Shrinking content changes the position without a movement of the reader.
    const hasShrunk = this.#view.scrollHeight < this.#lastHeight;
    this.#lastTop = top;
    this.#lastHeight = this.#view.scrollHeight;
    if (delta < 0 && !hasShrunk) this.#onMove(-delta);
    else if (delta > 0) {
      this.#upwardPx = 0;
      if (!this.#isPinned && this.#bottom() - top <= REPIN_PX) this.#isPinned = true;
    }
    this.#emitState();
  }

  #onMove(upwardPx: number): void {
    this.#upwardPx += upwardPx;
    if (this.#upwardPx >= UNPIN_PX) this.#cancelFollow();
  }

  /** Counts wheel input itself: following the bottom may undo the scrolling before it is reported. */
  #onWheel(deltaY: number): void {
    this.#wheelPx = deltaY < 0 ? this.#wheelPx - deltaY : 0;
    if (this.#wheelPx >= UNPIN_PX) this.#cancelFollow();
  }

  /** Unpins the view after a movement by the reader. */
  #cancelFollow(): void {
    if (this.#bottom() <= 0 || !this.#isPinned) return;
    this.#isPinned = false;
    this.#emitState();
  }

  /** Unpins immediately: keys scroll over several frames, which following the bottom would undo. */
  #onKeyDown({ key, shiftKey, target, defaultPrevented }: KeyboardEvent): void {
    const isUpward = UPWARD_KEYS.includes(key) || (key === ' ' && shiftKey && target === this.#view);
    const isTextField = target instanceof HTMLElement && target.matches('input, textarea');
    if (isUpward && !isTextField && !defaultPrevented) this.#cancelFollow();
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
    if (far !== this.#isFar || this.#isPinned !== this.#wasPinned) {
      this.#isFar = far;
      this.#wasPinned = this.#isPinned;
      this.#onChange({ pinned: this.#isPinned, far });
    }
  }

  #wasPinned = true;
}
