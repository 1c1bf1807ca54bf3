/** Whether this tab is visible. */
class PageVisibility {
  isVisible = $state(document.visibilityState === 'visible');

  constructor() {
    document.addEventListener('visibilitychange', () => (this.isVisible = document.visibilityState === 'visible'));
  }
}

export const pageVisibility = new PageVisibility();
