import { BASE } from '#lib/demo.ts';
import { loadWords } from '#lib/i18n/load.ts';
import { locale } from '#lib/i18n/locale.ts';
import { whenIdle } from '#lib/idle.ts';
import { scriptURL } from '#lib/trusted.ts';

/** By then what is wanted later is loaded. */
const LOAD_MS = 5_000;
const LOOK_EVERY_MS = 30 * 60_000;

const loadMissedParts = async (): Promise<void> => {
  await loadWords('later');
  (await import('./missed-parts.ts')).tellMissedParts();
};

/** The app's own updates: a new version is fetched in the background and asks before it takes over. */
class Update {
  /** A new version waits to be let in. */
  ready = $state(false);
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
  tellMissed(): void {
    // Before it can be missed itself; where it is, parts say of themselves that they are not there.
    whenIdle(() => void loadMissedParts().catch(() => {}), LOAD_MS);
  }

  async #register(): Promise<void> {
    try {
      const registration = await navigator.serviceWorker.register(scriptURL(`${BASE}service-worker.js`), { scope: BASE });
      this.registration = registration;
      const follow = (): void => registration.installing?.addEventListener('statechange', () => this.look());
      registration.addEventListener('updatefound', follow);
      follow();
      this.look();
      void navigator.serviceWorker.ready.then(({ active }) => active?.postMessage({ type: 'SPEAK', locale }));
      const lookAgain = (): void => void registration.update().catch(() => {});
      setInterval(lookAgain, LOOK_EVERY_MS);
      // A person who returns may have started another version in a terminal.
      document.addEventListener('visibilitychange', () => document.hidden || lookAgain());
    } catch {
      // No service worker in this browser or window: the app works, but not offline.
    }
  }

  /** The very first one passes through "waiting" too, with none before it: it is not an update. */
  look(): void {
    const { waiting, active } = this.registration ?? {};
    this.ready = waiting != null && active != null;
  }
}

export const update = new Update();
