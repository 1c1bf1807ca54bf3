/** Attachment that calls back once when its element is in view, or less than `margin` CSS pixels away from it. */
export function whenNear(reached: () => void, margin = 200): (element: Element) => () => void {
  return (element) => {
    const observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
        observer.disconnect();
        reached();
      },
      { root: findScroller(element), rootMargin: `${margin}px` },
    );
    observer.observe(element);
    return () => observer.disconnect();
  };
}

/** Nearest scrollable ancestor of an element. The body clips its content, so a margin around the window has no effect. */
function findScroller({ parentElement: parent }: Element): Element | null {
  return !parent || /auto|scroll/.test(getComputedStyle(parent).overflowY) ? parent : findScroller(parent);
}
