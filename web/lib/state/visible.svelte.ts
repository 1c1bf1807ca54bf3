/** Whether somebody can see this tab. */
class Visible {
  now = $state(document.visibilityState === 'visible');

  constructor() {
    document.addEventListener('visibilitychange', () => (this.now = document.visibilityState === 'visible'));
  }
}

export const visible = new Visible();
