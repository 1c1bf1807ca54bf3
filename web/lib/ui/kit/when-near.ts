/** An attachment: calls once its element is in sight, or less than `margin` CSS pixels away from it, and then no more. */
export function whenNear(reached: () => void, margin = 200): (element: Element) => () => void {
  return (element) => {
    const observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
        observer.disconnect();
        reached();
      },
      { scrollMargin: `${margin}px` },
    );
    observer.observe(element);
    return () => observer.disconnect();
  };
}
