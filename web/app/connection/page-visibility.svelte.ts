/** Whether this tab is visible. */
class PageVisibility {
  isVisible = $state(import.meta.env.SSR || document.visibilityState === 'visible');

  constructor() {
    if (import.meta.env.SSR) return;
    document.addEventListener('visibilitychange', () => (this.isVisible = document.visibilityState === 'visible'));
  }
}

export const pageVisibility = new PageVisibility();
