import { BASE_PATH } from '#lib/demo.ts';
import { loadMessages } from '#lib/i18n/load-messages.ts';
import { locale } from '#lib/i18n/locale.ts';
import { runWhenIdle } from '#lib/when-idle.ts';
import { toTrustedScriptUrl } from '#lib/trusted-script-url.ts';

/** By then what is wanted later is loaded. */
const PRELOAD_DELAY_MS = 5_000;
const CHECK_MS = 30 * 60_000;

const loadMissingChunks = async (): Promise<void> => {
  await loadMessages('later');
  (await import('./missing-chunks.ts')).watchMissingChunks();
};

/** The app's own updates: a new version is fetched in the background and asks before it takes over. */
class AppUpdate {
  /** A new version waits to be let in. */
  isReady = $state(false);
  registration: ServiceWorkerRegistration | undefined;

  start(): void {
    if (!('serviceWorker' in navigator) || import.meta.env.DEV) return;
    // Whichever tab accepted: all of them go on with the new version.
    let controlled = navigator.serviceWorker.controller !== null;
    navigator.serviceWorker.addEventListener('controllerchange', () => {
      if (controlled) location.reload();
      controlled = true;
    });
    void this.#register();
  }

  /** Parts of the app that do not come because it was replaced are told from now on. May be called again. */
  watchMissing(): void {
    // Before it can be missed itself; where it is, parts say of themselves that they are not there.
    runWhenIdle(() => void loadMissingChunks().catch(() => {}), PRELOAD_DELAY_MS);
  }

  async #register(): Promise<void> {
    try {
      const registration = await navigator.serviceWorker.register(toTrustedScriptUrl(`${BASE_PATH}service-worker.js`), {
        scope: BASE_PATH,
      });
      this.registration = registration;
      const follow = (): void => registration.installing?.addEventListener('statechange', () => this.check());
      registration.addEventListener('updatefound', follow);
      follow();
      this.check();
      void navigator.serviceWorker.ready.then(({ active }) => active?.postMessage({ type: 'SPEAK', locale }));
      const lookAgain = (): void => void registration.update().catch(() => {});
      setInterval(lookAgain, CHECK_MS);
      // A person who returns may have started another version in a terminal.
      document.addEventListener('visibilitychange', () => document.hidden || lookAgain());
    } catch {
      // No service worker in this browser or window: the app works, but not offline.
    }
  }

  /** The very first one passes through "waiting" too, with none before it: it is not an update. */
  check(): void {
    const { waiting, active } = this.registration ?? {};
    this.isReady = waiting != null && active != null;
  }
}

export const appUpdate = new AppUpdate();
