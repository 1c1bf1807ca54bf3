import { BASE_PATH } from '../state/demo.ts';
import { withMessages } from '../i18n/load-messages.ts';
import { locale } from '../i18n/locale.ts';
import { runWhenIdle } from '../connection/when-idle.ts';
import { toTrustedScriptUrl } from '../connection/trusted-script-url.ts';

/** Time after which modules for later use are loaded, in milliseconds. */
const PRELOAD_DELAY_MS = 5_000;
const CHECK_MS = 30 * 60_000;

const loadMissingChunks = async (): Promise<void> => (await withMessages(import('./missing-chunks.ts'))).watchMissingChunks();

/** The app's own updates: a new version is fetched in the background and asks before it takes over. */
class AppUpdate {
  /** A new version is waiting to be activated. */
  isReady = $state(false);
  registration: ServiceWorkerRegistration | undefined;

  start(): void {
    if (!('serviceWorker' in navigator) || import.meta.env.DEV) return;
    // All tabs reload, whichever of them accepted the new version.
    let controlled = navigator.serviceWorker.controller !== null;
    navigator.serviceWorker.addEventListener('controllerchange', () => {
      if (controlled) location.reload();
      controlled = true;
    });
    void this.#register();
  }

  /** Reports chunks that fail to load because the app was replaced on the server. May be called more than once. */
  watchMissing(): void {
    // Loaded early, since it can be missing too; in that case each component reports its own failure.
    runWhenIdle(() => void loadMissingChunks().catch(() => {}), PRELOAD_DELAY_MS);
  }

  async #register(): Promise<void> {
    try {
      const { Workbox } = await import('workbox-window');
      const workbox = new Workbox(toTrustedScriptUrl(`${BASE_PATH}service-worker.js`), { scope: BASE_PATH });
      const registration = await workbox.register({ immediate: true });
      if (!registration) return;
      this.registration = registration;
      // Workbox reports an update that another tab or a later check finds only once.
      const watchInstall = (): void => registration.installing?.addEventListener('statechange', () => this.check());
      registration.addEventListener('updatefound', watchInstall);
      watchInstall();
      this.check();
      void navigator.serviceWorker.ready.then(({ active }) => active?.postMessage({ type: 'SPEAK', locale }));
      const checkForUpdate = (): void => void workbox.update().catch(() => {});
      setInterval(checkForUpdate, CHECK_MS);
      // A person who returns may have started another version in a terminal.
      document.addEventListener('visibilitychange', () => document.hidden || checkForUpdate());
    } catch {
      // No service worker in this browser or window: the app works, but not offline.
    }
  }

  /** The first service worker also passes through "waiting", but with none active: it is not an update. */
  check(): void {
    const { waiting, active } = this.registration ?? {};
    this.isReady = waiting != null && active != null;
  }
}

export const appUpdate = new AppUpdate();
