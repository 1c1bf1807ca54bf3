import { BASE, named } from '#lib/demo.ts';
import { update } from './update.svelte.ts';

/** How long a new version may take to come when it is asked for. */
const FETCH_MS = 20_000;
/**
 * Asked again until the page reloads: where the service worker in use is just being stopped, Chromium 156 starts it once more and lets the new one
 * in only when that has been idle for half a minute, or never while it has work.
 */
const ASK_EVERY_MS = 1_000;

/** Held by each tab that has what a reload would lose. */
const UNKEPT = named('perch-unkept');

/** No tab lets a new version in before this is undone: this one has what the reload would lose. */
export function holdUpdates(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  void navigator.locks.request(UNKEPT, { mode: 'shared' }, () => promise);
  return resolve;
}

/** Lets a new version in. */
class NewVersion {
  /** The new version was accepted and is about to reload all tabs. */
  accepted = $state(false);
  /** The new version was accepted and waits until reloading loses nothing. */
  held = $state(false);

  accept(): void {
    if (this.accepted) return;
    this.accepted = true;
    const ask = (lock: Lock | null): void => {
      this.held = lock === null;
      if (lock) update.registration?.waiting?.postMessage({ type: 'SKIP_WAITING' });
    };
    const look = (): void => void navigator.locks.request(UNKEPT, { ifAvailable: true }, ask);
    look();
    setInterval(look, ASK_EVERY_MS);
  }

  /** Looks for a new version and reloads into it; reloads in any case, for the page itself may be the old part. */
  async reload(): Promise<void> {
    if (!update.ready) await Promise.race([fetchNew().catch(() => {}), new Promise((resolve) => setTimeout(resolve, FETCH_MS))]);
    // Once it is let in, all tabs reload.
    if (update.ready) this.accept();
    else location.reload();
  }
}

/** Resolves when a new version is ready, or there is none. */
async function fetchNew(): Promise<void> {
  const registration = (update.registration ??= await navigator.serviceWorker?.getRegistration(BASE));
  await registration?.update();
  const installing = registration?.installing;
  if (installing) {
    await new Promise<void>((resolve) => {
      installing.addEventListener('statechange', () => installing.state !== 'installing' && resolve());
    });
  }
  update.look();
}

export const newVersion = new NewVersion();
