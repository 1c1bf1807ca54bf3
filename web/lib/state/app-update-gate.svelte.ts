import { BASE_PATH, toScopedName } from '#lib/demo.ts';
import { appUpdate } from './app-update.svelte.ts';

/** How long a new version may take to come when it is asked for. */
const FETCH_TIMEOUT_MS = 20_000;
/**
 * Asked again until the page reloads: where the service worker in use is just being stopped, Chromium 156 starts it once more and lets the new one
 * in only when that has been idle for half a minute, or never while it has work.
 */
const RETRY_MS = 1_000;

/** Held by each tab that has what a reload would lose. */
const UNSAVED_LOCK = toScopedName('perch-unkept');

/** No tab lets a new version in before this is undone: this one has what the reload would lose. */
export function holdUpdates(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  void navigator.locks.request(UNSAVED_LOCK, { mode: 'shared' }, () => promise);
  return resolve;
}

/** Lets a new version in. */
class AppUpdateGate {
  /** The new version was accepted and is about to reload all tabs. */
  isAccepted = $state(false);
  /** The new version was accepted and waits until reloading loses nothing. */
  isWaiting = $state(false);

  accept(): void {
    if (this.isAccepted) return;
    this.isAccepted = true;
    const handleLock = (lock: Lock | null): void => {
      this.isWaiting = lock === null;
      if (lock) appUpdate.registration?.waiting?.postMessage({ type: 'SKIP_WAITING' });
    };
    const tryLock = (): void => void navigator.locks.request(UNSAVED_LOCK, { ifAvailable: true }, handleLock);
    tryLock();
    setInterval(tryLock, RETRY_MS);
  }

  /** Looks for a new version and reloads into it; reloads in any case, for the page itself may be the old part. */
  async reload(): Promise<void> {
    if (!appUpdate.isReady)
      await Promise.race([fetchUpdate().catch(() => {}), new Promise((resolve) => setTimeout(resolve, FETCH_TIMEOUT_MS))]);
    // Once it is let in, all tabs reload.
    if (appUpdate.isReady) this.accept();
    else location.reload();
  }
}

/** Resolves when a new version is ready, or there is none. */
async function fetchUpdate(): Promise<void> {
  const registration = (appUpdate.registration ??= await navigator.serviceWorker?.getRegistration(BASE_PATH));
  await registration?.update();
  const installing = registration?.installing;
  if (installing) {
    await new Promise<void>((resolve) => {
      installing.addEventListener('statechange', () => installing.state !== 'installing' && resolve());
    });
  }
  appUpdate.check();
}

export const appUpdateGate = new AppUpdateGate();
