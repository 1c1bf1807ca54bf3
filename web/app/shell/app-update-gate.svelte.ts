import { BASE_PATH, toScopedName } from '../state/demo.ts';
import { appUpdate } from './app-update.svelte.ts';

/** Maximum time to wait for a requested new version, in milliseconds. */
const FETCH_TIMEOUT_MS = 20_000;
/**
 * Interval in milliseconds at which the request is repeated until the page reloads: if the active service worker is being stopped, Chromium
 * 156 starts it again and activates the new one only after half a minute without events, or never while events arrive.
 */
const RETRY_MS = 1_000;

/** Lock held by each tab with unsaved data that a reload would lose. */
const UNSAVED_LOCK = toScopedName('perch-unkept');

/** Keeps all tabs from activating a new version, as this tab has unsaved data. Returns a function that ends this. */
export function holdUpdates(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  void navigator.locks.request(UNSAVED_LOCK, { mode: 'shared' }, () => promise);
  return resolve;
}

/** Activates a new version once no tab has unsaved data. */
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

  /** Fetches a new version if there is one, and reloads in any case, as the page itself may be outdated. */
  async reload(): Promise<void> {
    if (!appUpdate.isReady)
      await Promise.race([fetchUpdate().catch(() => {}), new Promise((resolve) => setTimeout(resolve, FETCH_TIMEOUT_MS))]);
    // All tabs reload once the new version is active.
    if (appUpdate.isReady) this.accept();
    else location.reload();
  }
}

/** Resolves when a new version is ready, or if there is none. */
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
